#include "tidemill/scheduling/unequal/known_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/text_file.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/unequal/internal/as_bridge_error.hpp"

namespace tidemill::bridge {

namespace {

KnownTask known_task(const Profile& profile, const ChainTask& task) {
    KnownTask known{.name = task.name, .replicable = task.replicable};
    for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind)
        if (task.weight_us[kind] != kCannotRun && !profile.is_device(profile.kinds[kind]))
            known.kinds.emplace(profile.kinds[kind], KnownTime{task.weight_us[kind]});
    return known;
}

bool is_factor_file(const Json& json) {
    return json.find("known_tasks") != nullptr;
}

void check_all_ran(const FactorFile& file, std::string_view source) {
    if (file.tasks.empty()) throw BridgeError(fmt::format("{}: knows no task; let something run", source));
    for (const KnownTask& task : file.tasks)
        if (task.kinds.empty())
            throw BridgeError(fmt::format("{}: {} never ran; let it run for longer", source, task.name));
}

/// Times of a file's tasks, also where they never ran.
class Estimates {
  public:
    Estimates(const FactorFile& file, std::string_view source) : file_(file), source_(source) {
        for (const CoreCount& cores : file.cores.kinds()) {
            const auto ran_there = [&](const KnownTask& task) { return task.kinds.contains(cores.kind); };
            if (std::ranges::any_of(file.tasks, ran_there))
                kinds_.push_back(cores.kind);
            else if (cores.count > 0)
                warnings_.push_back(fmt::format("no task ran on kind '{}', which is left out", cores.kind));
        }
    }

    const std::vector<std::string>& kinds() const { return kinds_; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    double time_us(const KnownTask& task, const std::string& kind) {
        if (const auto own = task.kinds.find(kind); own != task.kinds.end()) return own->second.us;
        for (const auto& [other, time] : task.kinds) {
            const std::optional<double> ratio = usual_ratio(other, kind);
            if (!ratio) continue;
            warnings_.push_back(
                fmt::format("{} never ran on kind '{}': its time there is an estimate, as usual "
                            "between '{}' and that",
                            task.name, kind, other));
            return *ratio * time.us;
        }
        throw BridgeError(
            fmt::format("{}: {} never ran on kind '{}', and no other task shows how times there "
                        "are related; let it run for longer",
                        source_, task.name, kind));
    }

  private:
    // The geometric mean, over the tasks that ran on both.
    std::optional<double> usual_ratio(const std::string& from, const std::string& to) const {
        double logs = 0;
        int known = 0;
        for (const KnownTask& task : file_.tasks) {
            const auto here = task.kinds.find(from);
            const auto there = task.kinds.find(to);
            if (here == task.kinds.end() || there == task.kinds.end()) continue;
            if (here->second.us <= 0 || there->second.us <= 0) continue;
            logs += std::log(there->second.us / here->second.us);
            ++known;
        }
        return known > 0 ? std::optional(std::exp(logs / known)) : std::nullopt;
    }

    const FactorFile& file_;
    std::string_view source_;
    std::vector<std::string> kinds_;
    std::vector<std::string> warnings_;
};

}  // namespace

FactorFile known_tasks(const Profile& profile) {
    FactorFile file{.machine = profile.measured_by, .cores = profile.cores};
    for (const ChainTask& task : profile.tasks) file.tasks.push_back(known_task(profile, task));
    return file;
}

FactorFile read_known_tasks(const std::filesystem::path& path) {
    const Json json = as_bridge_error([&] { return read_json(path); });
    if (is_factor_file(json)) return parse_factor_file(to_text(json), path.string());
    try {
        return known_tasks(parse_profile(to_text(json), path.string()));
    } catch (const ScheduleError& error) {
        throw BridgeError(error.what());
    }
}

Profile profile_of(const FactorFile& file, std::string_view source) {
    check_all_ran(file, source);
    Estimates estimates(file, source);
    Profile profile;
    profile.kinds = estimates.kinds();
    profile.measured_by = fmt::format("remembered{}{}", file.machine.empty() ? "" : ": ", file.machine);
    for (const std::string& kind : profile.kinds) profile.cores.set(kind, file.cores.count(kind));
    for (const KnownTask& known : file.tasks) {
        ChainTask& task = profile.tasks.emplace_back(ChainTask{known.name, known.replicable, {}});
        for (const std::string& kind : profile.kinds)
            task.weight_us.push_back(known.calls_per_frame * estimates.time_us(known, kind));
    }
    profile.warnings = estimates.warnings();
    static_cast<Chain&>(profile) = rounded(profile);
    return profile;
}

Profile read_profile_or_factors(const std::filesystem::path& path) {
    const Json json = as_bridge_error([&] { return read_json(path); });
    if (is_factor_file(json))
        return profile_of(parse_factor_file(to_text(json), path.string()), path.string());
    return parse_profile(to_text(json), path.string());
}

}  // namespace tidemill::bridge
