#include "tidemill/cli/dvbs2/ber_state.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/modcod_name.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/json/json_error.hpp"
#include "tidemill/json/json_place.hpp"
#include "tidemill/json/text_file.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::BerCounts;

constexpr std::array<std::pair<const char*, std::uint64_t BerCounts::*>, 7> kCounts = {
    {{"frames", &BerCounts::frames},
     {"frame_errors", &BerCounts::frame_errors},
     {"frames_lost", &BerCounts::frames_lost},
     {"undetected", &BerCounts::undetected},
     {"bits", &BerCounts::bits},
     {"bit_errors", &BerCounts::bit_errors},
     {"ldpc_iterations", &BerCounts::ldpc_iterations}}};

// Everything that the counts depend on.
std::string key_of(const dvbs2::BerPoint& point) {
    std::string key =
        fmt::format("{} {}{}, Es/N0 {} dB, seed {}", modcod_name(*dvbs2::find_modcod(point.pls.modcod)),
                    name(point.pls.size), point.pls.pilots ? " pilots" : "", point.esn0_db, point.seed);
    if (!point.full_sync) return key + fmt::format(", ideal, {} iterations", point.max_iterations);
    const dvbs2::FullSync& full = *point.full_sync;
    return key +
           fmt::format(", full, {} c/sym, {} c/sym2, {} ppm, {} deg, roll-off {}, gold {}, bursts of {}",
                       full.frequency_cycles_per_symbol, full.drift_cycles_per_symbol2, full.clock_offset_ppm,
                       full.phase_noise_deg, full.rolloff, full.gold_code, full.frames_per_burst);
}

}  // namespace

BerState::BerState(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code unknown;  // what cannot be looked at cannot be written either, which is told then
    if (!path_.empty() && std::filesystem::exists(path_, unknown)) read();
}

void BerState::read() {
    try {
        const Json json = read_json(path_);
        for (const auto& [key, values] : JsonPlace(json, path_.string()).members())
            for (const auto& [name, field] : kCounts) counts_[key].*field = values.at(name).count();
    } catch (const JsonError& error) {
        throw io::IoError(
            fmt::format("this does not hold error counts: {}; name another --state file", error.what()));
    }
}

BerCounts BerState::counts_of(const dvbs2::BerPoint& point) const {
    const auto found = counts_.find(key_of(point));
    return found == counts_.end() ? BerCounts{} : found->second;
}

void BerState::put(const dvbs2::BerPoint& point, const BerCounts& counts) {
    counts_[key_of(point)] = counts;
    if (path_.empty()) return;
    Json json;
    for (const auto& [key, values] : counts_) {
        Json& point_json = json[key];
        for (const auto& [name, field] : kCounts) point_json[name] = values.*field;
    }
    const std::filesystem::path fresh = fmt::format("{}.{}.new", path_.string(), getpid());
    std::ofstream file(fresh);
    file << to_text(json, 2) << '\n';
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(fresh, path_, failed);
    if (!file) std::filesystem::remove(fresh, failed);
    if (!file || failed)
        throw JobFailed(fmt::format("cannot write '{}': is there space, may we write?", path_.string()));
}

}  // namespace tidemill::cli
