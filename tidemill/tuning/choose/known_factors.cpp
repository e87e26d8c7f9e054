#include "tidemill/tuning/choose/known_factors.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill {

namespace {

bridge::Quality quality_of(const UnitOnKind& on) {
    return on.quality == "measured" ? bridge::Quality::measured : bridge::Quality::estimated;
}

// Before the run, not behind it.
void check_folder_of(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    if (access(folder.c_str(), W_OK) == 0) return;
    throw bridge::BridgeError(fmt::format("{} cannot be written: {}: {}", path, folder.string(),
                                          std::generic_category().message(errno)));
}

}  // namespace

KnownFactors::KnownFactors(const RunConfig& how, Platform cores)
    : cores_(std::move(cores)), path_(how.remember), given_(how.factors != nullptr) {
    if (given_) known_ = *how.factors;
    if (!path_.empty()) check_folder_of(path_);
    std::error_code none;  // a failed request is reported when it is written
    if (!path_.empty() && std::filesystem::exists(path_, none)) known_ = bridge::read_factor_file(path_);
    if (known_) check_kinds(*known_, cores_, given_ ? "the file of factors" : path_);
}

void KnownFactors::tell(DynamicOptions& workers) const {
    if (!known_) return;
    workers.explores = !given_;
    for (const bridge::KnownTask& task : known_->tasks) {
        std::vector<double>& on_kinds = workers.known_us[task.name];
        for (const std::string& kind : workers.kind_names) {
            const auto found = task.kinds.find(kind);
            on_kinds.push_back(found == task.kinds.end() ? 0 : found->second.us);
        }
    }
}

void KnownFactors::remember(const RunReport& report) const {
    if (path_.empty()) return;
    write_factor_file(remembered(known_.value_or(bridge::FactorFile{}), learned(report)), path_);
}

bridge::FactorFile KnownFactors::learned(const RunReport& report) const {
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    bridge::FactorFile file{.machine = report.emulated.empty() ? "" : "emulated: " + report.emulated,
                            .written = fmt::format("{:%FT%TZ}", now),
                            .cores = cores_};
    std::vector<std::uint64_t> calls(report.units.size(), 0);
    for (const UnitReport& unit : report.units)
        file.tasks.push_back({.name = unit.name, .replicable = unit.replicable});
    for (const UnitOnKind& on : report.on_kinds) {
        calls[on.unit] += on.calls;
        if (on.calls == 0) continue;
        const double us = on.total_us / static_cast<double>(on.calls);
        file.tasks[on.unit].kinds[on.kind] = {us, on.calls, quality_of(on)};
    }
    for (std::size_t unit = 0; unit < calls.size() && report.frames > 0; ++unit)
        file.tasks[unit].calls_per_frame =
            static_cast<double>(calls[unit]) / static_cast<double>(report.frames);
    std::erase_if(file.tasks, [](const bridge::KnownTask& task) { return task.kinds.empty(); });
    return file;
}

}  // namespace tidemill
