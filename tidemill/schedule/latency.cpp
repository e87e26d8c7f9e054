#include "tidemill/schedule/latency.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "tidemill/schedule/internal/latency_table.hpp"

namespace tidemill {

namespace {

using internal::Effort;
using internal::ExactChain;
using internal::LatencyTable;
using internal::PeriodLimit;
using internal::Ratio;
using internal::TimedSolution;
using internal::Wide;

constexpr Ratio kAnyPeriod{std::uint64_t{1} << 62, 1};

/// A solution with the period that it has with so many frames in flight.
struct Paced {
    TimedSolution solution;
    Ratio period;
};

/// The search for periods with some number of frames in flight, or with any number: 0.
class Pacing {
  public:
    Pacing(const ExactChain& chain, Effort& effort) : chain_(chain), table_(chain, effort) {}

    std::optional<TimedSolution> least(const PeriodLimit& limit) { return table_.least(limit); }

    /// The least period with `frames`; nothing where no schedule runs the chain.
    std::optional<Paced> least_period(std::uint64_t frames);

  private:
    Ratio period_of(const TimedSolution& solution, std::uint64_t frames) const;
    std::optional<Paced> within(const PeriodLimit& limit, std::uint64_t frames);

    const ExactChain& chain_;
    LatencyTable table_;
};

Ratio Pacing::period_of(const TimedSolution& solution, std::uint64_t frames) const {
    const Ratio slowest = internal::real_period(chain_, solution.stages);
    return frames > 0 ? std::max(slowest, Ratio{solution.latency, frames}) : slowest;
}

// If any schedule has such a period with so many frames, one has whose latency is the least within it.
std::optional<Paced> Pacing::within(const PeriodLimit& limit, std::uint64_t frames) {
    std::optional<TimedSolution> found = table_.least(limit);
    if (!found) return std::nullopt;
    const Ratio period = period_of(*found, frames);
    if (limit.below ? !(period < limit.period) : period > limit.period) return std::nullopt;
    return Paced{std::move(*found), period};
}

Ratio halfway(const Ratio& low, const Ratio& high) {
    const auto value = [](const Ratio& ratio) {
        return static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
    };
    return internal::ratio_of((value(low) + value(high)) / 2, 1);
}

// Halving comes near the least period, and what is below the best one found is asked for exactly.
std::optional<Paced> Pacing::least_period(std::uint64_t frames) {
    constexpr int kHalvings = 12;
    std::optional<Paced> best = within({kAnyPeriod, false}, frames);
    if (!best) return std::nullopt;
    Ratio low{0, 1};
    for (int i = 0; i < kHalvings; ++i) {
        const Ratio middle = halfway(low, best->period);
        if (!(low < middle && middle < best->period)) break;
        if (auto found = within({middle, false}, frames))
            best = std::move(found);
        else
            low = middle;
    }
    while (best->period.num > 0) {
        auto found = within({best->period, true}, frames);
        if (!found) break;
        best = std::move(found);
    }
    return best;
}

// Cores that slow down as others are busy would be a problem for each number of busy ones.
void check_latency_model(const CostModel& model) {
    for (const KindCosts& kind : model.kinds)
        if (std::ranges::any_of(kind.slowdown, [](double factor) { return factor != 1; }))
            throw ScheduleError(
                fmt::format("latency: cores of kind '{}' slow down as more are busy, which is not known how "
                            "to count with here; leave out \"slowdown\"",
                            kind.kind));
}

[[noreturn]] void refuse_latency(const Platform& cores) {
    throw ScheduleError(
        fmt::format("latency: no kind of the cores {} runs all tasks, and there are too few of each for the "
                    "tasks in their order; give more",
                    to_string(cores)));
}

PacedSchedule with_frames(Schedule schedule, double alone_us, std::size_t frames) {
    const double period_us = std::max(*schedule.period_us, alone_us / static_cast<double>(frames));
    return {std::move(schedule), frames, period_us, period_us * static_cast<double>(frames)};
}

/// A problem in exact integers, with what makes schedules of its solutions.
struct Problem {
    const Chain& chain;
    const CostModel& model;
    ExactChain exact;

    Schedule schedule(const TimedSolution& solution) const {
        return to_schedule(chain, exact, solution.stages, "latency", model);
    }
};

Problem problem_of(const Chain& chain, const Platform& cores, const CostModel& model) {
    check_latency_model(model);
    return {chain, model, internal::exact_chain(chain, cores, model)};
}

}  // namespace

double latency_us(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    double sum_us = 0;
    for (const Stage& stage : schedule.stages) {
        double slowest_us = 0;
        for (const CoreCount& cores : stage.cores()) {
            Stage alone = stage;
            alone.word.reset();
            alone.owners.clear();
            alone.core_kind = cores.kind;
            alone.threads = 1;
            Schedule one{.stages = {alone}};
            slowest_us = std::max(slowest_us, stage_weights_us(one, chain, model).front());
        }
        sum_us += slowest_us;
    }
    return sum_us;
}

PacedSchedule paced(Schedule schedule, const Chain& chain, const CostModel& model) {
    constexpr double kRounding = 1 - 1e-12;
    const double alone_us = latency_us(schedule, chain, model);
    schedule.period_us = period_us(schedule, chain, model);
    const double frames = *schedule.period_us > 0 ? std::ceil(alone_us / *schedule.period_us * kRounding) : 1;
    return with_frames(std::move(schedule), alone_us, static_cast<std::size_t>(std::max(1.0, frames)));
}

PacedSchedule least_latency(const Chain& chain, const Platform& platform, const Objective& objective,
                            const CostModel& model) {
    const Platform cores = usable(platform, objective);
    const Problem problem = problem_of(chain, cores, model);
    Effort effort("latency");
    Pacing pacing(problem.exact, effort);
    std::optional<TimedSolution> found;
    if (objective.wanted_period_us)
        found = pacing.least({internal::ratio_of(*objective.wanted_period_us, problem.exact.units_per_us)});
    if (!found) {
        const auto fastest = pacing.least_period(0);
        if (!fastest) refuse_latency(cores);
        found = pacing.least({fastest->period});
    }
    return paced(problem.schedule(*found), chain, model);
}

// The more frames there are in flight, the shorter is the period and the longer takes each of them.
PacedSchedule within_latency(double most_us, const Chain& chain, const Platform& platform,
                             const Objective& objective, const CostModel& model) {
    if (!(most_us > 0))
        throw ScheduleError(fmt::format("latency: a limit of {} us; expected more than 0", most_us));
    if (objective.wanted_period_us)
        throw ScheduleError("latency: a limit and a wanted period; give one of them");
    const Platform cores = usable(platform, objective);
    const Problem problem = problem_of(chain, cores, model);
    Effort effort("latency");
    Pacing pacing(problem.exact, effort);
    const Ratio most = internal::ratio_of(most_us, problem.exact.units_per_us);
    const auto fits = [&](const Paced& found, std::uint64_t frames) {
        return Wide{found.period.num} * frames * most.den <= Wide{most.num} * found.period.den;
    };
    std::optional<Paced> best = pacing.least_period(1);
    if (!best) refuse_latency(cores);
    std::uint64_t frames = 1;
    // No schedule has more threads at work than there are cores, or halves of them.
    std::uint64_t too_many = 2 * problem.exact.total_cores() + 2;
    while (fits(*best, frames) && too_many - frames > 1) {
        const std::uint64_t middle = (frames + too_many) / 2;
        std::optional<Paced> found = pacing.least_period(middle);
        if (fits(*found, middle)) {
            best = std::move(found);
            frames = middle;
        } else {
            too_many = middle;
        }
    }
    Schedule schedule = problem.schedule(best->solution);
    PacedSchedule enough = paced(schedule, chain, model);
    if (enough.frames <= frames) return enough;
    return with_frames(std::move(schedule), latency_us(enough.schedule, chain, model),
                       static_cast<std::size_t>(frames));
}

}  // namespace tidemill
