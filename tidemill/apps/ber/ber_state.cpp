#include "tidemill/apps/ber/ber_state.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/io_error.hpp"

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
    if (point.first_frame > 0) key += fmt::format(", from frame {}", point.first_frame);
    if (point.fast_iterations > 0) key += fmt::format(", {} by min-sum", point.fast_iterations);
    if (point.by_sum_product) return key + ", ideal, by sum-product";
    if (!point.full_sync) return key + fmt::format(", ideal, {} iterations", point.max_iterations);
    const dvbs2::FullSync& full = *point.full_sync;
    for (const dvbs2::Echo& echo : full.echoes)
        key += fmt::format(", echo {},{},{}", echo.delay_symbols, echo.gain_db, echo.phase_rad);
    return key +
           fmt::format(", full, {} c/sym, {} c/sym2, {} ppm, {} deg, roll-off {}, gold {}, bursts of {}",
                       full.frequency_cycles_per_symbol, full.drift_cycles_per_symbol2, full.clock_offset_ppm,
                       full.phase_noise_deg, full.rolloff, full.gold_code, full.frames_per_burst);
}

// Whether a run may have come to these counts.
bool are_possible(const BerCounts& counts) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
    const bool few = std::ranges::all_of(kCounts, [&](const auto& c) { return counts.*c.second <= kMost; });
    return few && counts.frame_errors <= counts.frames && counts.frames_lost <= counts.frame_errors &&
           counts.undetected <= counts.frames && counts.bit_errors <= counts.bits &&
           (counts.frames > 0 || counts.bits == 0);
}

}  // namespace

BerState::BerState(std::filesystem::path path) : path_(std::move(path)) {
    try {
        if (!path_.empty()) lock_.emplace(path_);
    } catch (const JsonError& error) {
        throw JobFailed(fmt::format("--state: {}", error.what()));
    }
    std::error_code
        unknown;  // a path that cannot be looked at cannot be written either, which is reported then
    if (!path_.empty() && std::filesystem::exists(path_, unknown)) read();
}

void BerState::read() {
    try {
        const Json json = read_json(path_);
        for (const auto& [key, values] : JsonLocation(json, path_.string()).members()) {
            BerCounts& counts = counts_[key];
            for (const auto& [name, field] : kCounts) counts.*field = values.at(name).count();
            if (!are_possible(counts)) values.fail("no run comes to these counts");
        }
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
    try {
        replace_text(path_, to_text(json, 2) + "\n");
    } catch (const JsonError& error) {
        throw JobFailed(error.what());
    }
}

}  // namespace tidemill::cli
