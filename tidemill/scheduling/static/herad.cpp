#include "tidemill/scheduling/static/herad.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tidemill/scheduling/static/stages/level.hpp"

namespace tidemill {
namespace {

using internal::Candidate;
using internal::Effort;
using internal::Level;
using internal::Ratio;

constexpr std::size_t kMaxLevels = 4096;

// The numbers of cores of a kind up to which its cores are equally fast, and all of them.
std::vector<int> ends_of_levels(const KindCosts& kind, int cores) {
    std::vector<int> ends;
    const int steps = std::min(cores, static_cast<int>(kind.slowdown.size()));
    for (int busy = 1; busy < steps; ++busy)
        if (slowdown(kind, busy) != slowdown(kind, busy + 1)) ends.push_back(busy);
    ends.push_back(cores);
    return ends;
}

// A schedule is as fast as its busy cores let it be, so each combination of numbers up to which the cores are
// equally fast is a problem of its own; without slowdowns there is one.
std::vector<Platform> levels(const Platform& cores, const CostModel& model) {
    std::vector<Platform> all{cores};
    for (const auto& [kind, count] : cores.kinds()) {
        std::vector<Platform> split;
        for (const Platform& level : all)
            for (const int end : ends_of_levels(model.kind(kind), count)) {
                split.push_back(level);
                split.back().set(kind, end);
            }
        all = std::move(split);
        if (all.size() > kMaxLevels)
            throw ScheduleError(fmt::format(
                "model: more than {} combinations of slowdowns; give fewer different ones", kMaxLevels));
    }
    return all;
}

Platform cores_of(const Schedule& schedule) {
    Platform cores;
    for (const auto& [kind, count] : cores_used(schedule)) cores.set(kind, count);
    return cores;
}

struct Found {
    Candidate candidate;
    Schedule schedule;
};

/// Schedules that are looked at, and the name of the strategy.
struct Among {
    std::string_view strategy;
    std::size_t most_letters = 0;
};

Schedule best_of_levels(const Chain& chain, const Platform& cores, const Objective& objective,
                        const CostModel& model, const Among& among) {
    Effort effort(among.strategy);
    std::optional<Found> best;
    for (const Platform& platform : levels(cores, model)) {
        Level level(chain, platform, model, objective.among_equals, effort, among.most_letters);
        std::optional<Ratio> wanted;
        if (objective.wanted_period_us)
            wanted = internal::ratio_of(*objective.wanted_period_us, level.exact().units_per_us);
        const std::optional<Candidate> found = level.best(wanted);
        if (!found || (best && !is_better(*found, best->candidate, objective.among_equals, wanted))) continue;
        best = Found{*found, to_schedule(chain, level.exact(), found->stages, among.strategy, model)};
    }
    if (!best)
        throw ScheduleError(
            fmt::format("{}: no kind of the cores {} runs all tasks, and there are too few of each for the "
                        "tasks in their order; give more",
                        among.strategy, to_string(cores)));
    return best->schedule;
}

// Points of all levels, fastest first, without those that another one beats.
std::vector<Found> undominated(std::vector<Found> points) {
    std::ranges::sort(points, [](const Found& a, const Found& b) {
        return is_better(a.candidate, b.candidate, Preference::kLeastPower, std::nullopt);
    });
    std::vector<Found> front;
    for (Found& point : points)
        if (front.empty() || point.candidate.power < front.back().candidate.power)
            front.push_back(std::move(point));
    return front;
}

Schedule optimum(const Chain& chain, const Platform& platform, const Objective& objective,
                 const CostModel& model, const Among& among) {
    Schedule best = best_of_levels(chain, usable(platform, objective), objective, model, among);
    if (!objective.wanted_period_us || objective.among_equals == Preference::kFewestStages) return best;
    return best_of_levels(chain, cores_of(best), {.among_equals = objective.among_equals}, model, among);
}

}  // namespace

Schedule herad(const Chain& chain, const Platform& platform, const Objective& objective,
               const CostModel& model) {
    return optimum(chain, platform, objective, model, {"herad"});
}

Schedule mixed(const Chain& chain, const Platform& platform, const Objective& objective,
               const CostModel& model, std::size_t most_letters) {
    if (most_letters < 2 || most_letters > kMostLetters)
        throw ScheduleError(
            fmt::format("mixed: words of {} letters at most; expected 2 to {}", most_letters, kMostLetters));
    return optimum(chain, platform, objective, model, {"mixed", most_letters});
}

std::vector<ParetoPoint> pareto_front(const Chain& chain, const Platform& platform, const CostModel& model) {
    if (!model.has_power())
        throw ScheduleError("pareto: no power is known; give watts, for instance \"big=1.0,little=0.25\"");
    Effort effort("pareto");
    std::vector<Found> points;
    for (const Platform& cores : levels(platform, model)) {
        Level level(chain, cores, model, Preference::kLeastPower, effort);
        for (Candidate& point : level.pareto_front()) {
            Schedule schedule = to_schedule(chain, level.exact(), point.stages, "herad", model);
            points.push_back({std::move(point), std::move(schedule)});
        }
    }
    std::vector<ParetoPoint> front;
    for (Found& point : undominated(std::move(points))) {
        const double power = power_w(point.schedule, platform, model);
        const double period = *point.schedule.period_us;
        front.push_back({std::move(point.schedule), period, power});
    }
    return front;
}

}  // namespace tidemill
