#include "tidemill/machine/counters.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/core_pmus.hpp"
#include "tidemill/machine/internal/counter_sources.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

constexpr std::string_view kReplay = "replay:";

FoundCounters open_replay(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw PlatformError(fmt::format("{}: {}", path, std::strerror(errno)));
    return internal::counter_replay(file, path);
}

using Counted = std::optional<double>;

Counted difference(const Counted& before, const Counted& after) {
    if (!before || !after || *after < *before) return std::nullopt;
    return *after - *before;
}

std::optional<CoreTypeCounts> difference(const CounterReading& before, const CoreTypeCounts& after) {
    const CoreTypeCounts none{after.pmu, 0, 0, 0, 0};
    const auto found = std::ranges::find(before.on, after.pmu, &CoreTypeCounts::pmu);
    if (found == before.on.end() && before != CounterReading{}) return std::nullopt;
    const CoreTypeCounts& first = found == before.on.end() ? none : *found;
    if (after.ran_ns < first.ran_ns) return std::nullopt;
    CoreTypeCounts gone_by{after.pmu, after.ran_ns - first.ran_ns};
    for (const auto count : internal::kCounts) gone_by.*count = difference(first.*count, after.*count);
    return gone_by;
}

void scale(CoreTypeCounts& counts, double by) {
    counts.ran_ns *= by;
    for (const auto count : internal::kCounts)
        if (counts.*count) *(counts.*count) *= by;
}

}  // namespace

// A group of counters is enabled while its thread runs anywhere, but runs on its own core type only. So it is
// what all groups together leave of that time for which others had the counters.
ThreadWork work_between(const CounterReading& before, const CounterReading& after) {
    constexpr double kAllOfIt = 0.999;  // groups are looked at one after the other, while the thread may run
    for (const CounterReading* const look : {&before, &after})
        if (!look->absent.empty()) return {.absent = look->absent};
    const double enabled_ns = after.enabled_ns - before.enabled_ns;
    ThreadWork work;
    double ran_ns = 0;
    for (const CoreTypeCounts& counts : after.on) {
        auto gone_by = difference(before, counts);
        if (!gone_by) continue;
        ran_ns += gone_by->ran_ns;
        work.on.push_back(std::move(*gone_by));
    }
    if (enabled_ns > 0 && ran_ns <= 0) return {.absent = "others had the counters all the time"};
    if (ran_ns < kAllOfIt * enabled_ns) work.counted_share = ran_ns / enabled_ns;
    for (CoreTypeCounts& counts : work.on) scale(counts, 1 / work.counted_share);
    return work;
}

FoundCounters find_counters(std::string_view choice, const CounterSystem& system) {
    if (choice == "none") return {nullptr, "not wanted"};
    if (choice.starts_with(kReplay)) return open_replay(std::string(choice.substr(kReplay.size())));
    if (choice != "auto")
        throw PlatformError(
            fmt::format("there are no counters \"{}\": choose auto, none or replay:FILE", choice));
    try {
        return {internal::perf_counters(system), ""};
    } catch (const PlatformError& error) {
        return {nullptr, error.what()};
    }
}

}  // namespace tidemill
