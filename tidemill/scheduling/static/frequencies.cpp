#include "tidemill/scheduling/static/frequencies.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tidemill {
namespace {

constexpr std::size_t kMostCombinations = 4096;

/// A kind of cores at one of its frequencies.
struct AtFrequency {
    std::string kind;  // "big@1200"
    double mhz = 0;
};

double mhz_of(std::string_view kind, std::string_view text) {
    double mhz = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mhz);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(mhz) && mhz > 0) return mhz;
    throw ScheduleError(fmt::format(
        "frequencies: core kind '{}': expected a number of MHz above 0 behind the '@', as in 'big@1200'",
        kind));
}

// In the order of the chain.
std::vector<AtFrequency> frequencies_of(const std::string& cores, const Chain& chain) {
    std::vector<AtFrequency> found;
    for (const std::string& kind : chain.kinds) {
        if (!kind.starts_with(cores + "@")) continue;
        const double mhz = mhz_of(kind, std::string_view(kind).substr(cores.size() + 1));
        const auto same = std::ranges::find(found, mhz, &AtFrequency::mhz);
        if (same != found.end())
            throw ScheduleError(fmt::format("frequencies: core kinds '{}' and '{}' are the same; remove one",
                                            same->kind, kind));
        found.push_back({kind, mhz});
    }
    return found;
}

// A frequency at which some task has no weight is no choice.
void check_holes(const std::vector<AtFrequency>& frequencies, const Chain& chain) {
    for (const ChainTask& task : chain.tasks) {
        const auto runs = [&](const AtFrequency& at) {
            return task.weight_us[chain.kind_index(at.kind)] != kCannotRun;
        };
        const auto hole = std::ranges::find_if_not(frequencies, runs);
        const auto other = std::ranges::find_if(frequencies, runs);
        if (hole == frequencies.end() || other == frequencies.end()) continue;
        throw ScheduleError(fmt::format(
            "frequencies: task '{}' has a weight on '{}' but none on '{}': cores run all of their "
            "tasks at each frequency; give it, or leave '{}' out",
            task.name, other->kind, hole->kind, hole->kind));
    }
}

std::vector<AtFrequency> choices_of(const std::string& cores, const Chain& chain) {
    std::vector<AtFrequency> frequencies = frequencies_of(cores, chain);
    const bool is_weighed = std::ranges::find(chain.kinds, cores) != chain.kinds.end();
    if (frequencies.empty()) return {{cores}};
    if (is_weighed)
        throw ScheduleError(
            fmt::format("frequencies: core kind '{}' has weights without a frequency and as '{}'; leave one "
                        "of the two out",
                        cores, frequencies.front().kind));
    check_holes(frequencies, chain);
    return frequencies;
}

// Names of cores on a platform: "big" may be "big@1200" there.
std::string kind_there(const std::string& cores, const Platform& platform) {
    const auto is_frequency = [&](const CoreCount& each) {
        return each.count > 0 && each.kind.starts_with(cores + "@");
    };
    const std::vector<CoreCount> kinds = platform.kinds();
    const bool is_one = platform.count(cores) == 0 && std::ranges::count_if(kinds, is_frequency) == 1;
    return is_one ? std::ranges::find_if(kinds, is_frequency)->kind : cores;
}

}  // namespace

std::vector<Platform> at_each_frequency(const Chain& chain, const Platform& cores) {
    std::vector<Platform> platforms(1);
    for (const CoreCount& kind : cores.kinds()) {
        if (kind.count == 0) continue;
        const std::vector<AtFrequency> choices = choices_of(kind.kind, chain);
        if (platforms.size() * choices.size() > kMostCombinations)
            throw ScheduleError(fmt::format(
                "frequencies: more than {} combinations of all kinds' frequencies; leave some out",
                kMostCombinations));
        std::vector<Platform> more;
        for (const Platform& platform : platforms)
            for (const AtFrequency& at : choices) more.emplace_back(platform).set(at.kind, kind.count);
        platforms = std::move(more);
    }
    return platforms;
}

Platform at_frequencies(const Chain& chain, const Platform& cores, const Schedule& schedule) {
    const std::vector<Platform> platforms = at_each_frequency(chain, cores);
    const std::vector<CoreCount> used = cores_used(schedule);
    return *std::ranges::max_element(platforms, {}, [&](const Platform& platform) {
        return std::ranges::count_if(used,
                                     [&](const CoreCount& kind) { return platform.count(kind.kind) > 0; });
    });
}

Objective at_frequencies(Objective objective, const Platform& platform) {
    Platform leave_free;
    for (const CoreCount& wanted : objective.leave_free.kinds()) {
        const std::string kind = kind_there(wanted.kind, platform);
        leave_free.set(kind, leave_free.count(kind) + wanted.count);
    }
    objective.leave_free = leave_free;
    return objective;
}

std::vector<ParetoPoint> pareto_front(const Chain& chain, const std::vector<Platform>& platforms,
                                      const CostModel& model) {
    std::vector<ParetoPoint> points;
    for (const Platform& platform : platforms)
        for (ParetoPoint& point : pareto_front(chain, platform, model)) points.push_back(std::move(point));
    std::ranges::stable_sort(points, [](const ParetoPoint& a, const ParetoPoint& b) {
        return std::pair(a.period_us, a.power_w) < std::pair(b.period_us, b.power_w);
    });
    std::vector<ParetoPoint> front;
    for (ParetoPoint& point : points)
        if (front.empty() || point.power_w < front.back().power_w) front.push_back(std::move(point));
    return front;
}

}  // namespace tidemill
