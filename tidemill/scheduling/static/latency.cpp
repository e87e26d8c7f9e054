#include "tidemill/scheduling/static/latency.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "tidemill/scheduling/static/frame_alone.hpp"
#include "tidemill/scheduling/static/internal/device_uses.hpp"
#include "tidemill/scheduling/static/stages/latency_table.hpp"

namespace tidemill {

namespace {

using internal::DeviceUse;
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

/// How a device is used: a kind's executions in a batch, and how many frames wait at a time, at most, for
/// those that fill their batches.
struct Batches {
    std::vector<std::uint64_t> of_kinds{};  // empty: no device
    std::uint64_t waiting = 0;
};

/// The search for periods with some number of frames in flight, or with any number: 0.
class Pacing {
  public:
    Pacing(const ExactChain& chain, Effort& effort, const Batches& batches = {})
        : chain_(chain), table_(chain, effort, batches.of_kinds), waiting_(batches.waiting) {}

    std::optional<TimedSolution> least(const PeriodLimit& limit) { return table_.least(limit); }

    /// The least period with `frames`; nothing where no schedule runs the chain.
    std::optional<Paced> least_period(std::uint64_t frames);

  private:
    Ratio period_of(const TimedSolution& solution, std::uint64_t frames) const;
    std::optional<Paced> within(const PeriodLimit& limit, std::uint64_t frames);

    const ExactChain& chain_;
    LatencyTable table_;
    std::uint64_t waiting_;
};

Ratio Pacing::period_of(const TimedSolution& solution, std::uint64_t frames) const {
    constexpr Ratio kNever{std::uint64_t{1} << 63, 1};
    const Ratio slowest = internal::real_period(chain_, solution.stages);
    if (frames == 0) return slowest;
    return frames > waiting_ ? std::max(slowest, Ratio{solution.latency, frames - waiting_}) : kNever;
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

// Its period is that with any number of them.
PacedSchedule with_frames(Schedule schedule, const FrameAlone& alone, std::size_t frames) {
    const double period_us = std::max(*schedule.period_us, alone.period_us(static_cast<double>(frames)));
    schedule.frames_in_flight = static_cast<int>(frames);
    schedule.period_us = period_us;
    return {std::move(schedule), frames, period_us, period_us * static_cast<double>(frames)};
}

// As many as fit; where none do, those with which it takes least.
PacedSchedule with_frames_within(double most_us, const Schedule& schedule, const Chain& chain,
                                 const CostModel& model) {
    PacedSchedule best = paced(schedule, chain, model);
    const FrameAlone one = frame_alone(schedule, chain, model);
    const auto fewest = static_cast<std::size_t>(one.waiting) + 1;
    for (std::size_t frames = best.frames; frames-- > fewest && best.latency_us > most_us;) {
        PacedSchedule fewer = with_frames(schedule, one, frames);
        if (fewer.latency_us < best.latency_us) best = std::move(fewer);
    }
    return best;
}

Batches batches_of(const DeviceUse& use, const ExactChain& exact) {
    Batches batches{{}, static_cast<std::uint64_t>(use.waiting())};
    if (use.kinds.empty()) return batches;
    for (const internal::ExactKind& kind : exact.kinds) {
        const auto used =
            std::ranges::find(use.kinds, use.chain.kinds[kind.chain_kind], &DeviceUse::Kind::kind);
        batches.of_kinds.push_back(used == use.kinds.end() ? 1
                                                           : static_cast<std::uint64_t>(used->executions));
    }
    return batches;
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
    const FrameAlone one = frame_alone(schedule, chain, model);
    return one.waiting > 0 ? one.us + one.waiting * period_us(schedule, chain, model) : one.us;
}

PacedSchedule paced(Schedule schedule, const Chain& chain, const CostModel& model) {
    constexpr double kRounding = 1 - 1e-12;
    const FrameAlone one = frame_alone(schedule, chain, model);
    schedule.frames_in_flight.reset();
    schedule.period_us = period_us(schedule, chain, model);
    const double busy = *schedule.period_us > 0 ? std::ceil(one.us / *schedule.period_us * kRounding) : 1;
    return with_frames(std::move(schedule), one, static_cast<std::size_t>(std::max(1.0, busy) + one.waiting));
}

namespace {

// Times in batches are rounded, the devices' work of the host comes on top, and stages get their batches.
Schedule made_of(const TimedSolution& found, const Problem& problem, const DeviceUse& use, const Chain& chain,
                 const CostModel& model) {
    Schedule schedule = problem.schedule(found);
    use.set_batches(schedule);
    return use.joined ? use.joined->parted(std::move(schedule), chain, model) : schedule;
}

const CostModel& model_for(const DeviceUse& use, const CostModel& model) {
    return use.joined ? use.joined->model : model;
}

std::optional<PacedSchedule> least_latency_with(const DeviceUse& use, const Chain& chain,
                                                const Objective& objective, const CostModel& model) {
    const Problem problem = problem_of(use.chain, use.cores, model_for(use, model));
    Effort effort("latency");
    Pacing pacing(problem.exact, effort, batches_of(use, problem.exact));
    std::optional<TimedSolution> found;
    if (objective.wanted_period_us)
        found = pacing.least({internal::ratio_of(*objective.wanted_period_us, problem.exact.units_per_us)});
    if (!found) {
        const auto fastest = pacing.least_period(0);
        if (!fastest) return {};
        found = pacing.least({fastest->period});
    }
    return paced(made_of(*found, problem, use, chain, model), chain, model);
}

/// Paced schedules whose frames take no longer than so many units.
class Limited {
  public:
    Limited(const Problem& problem, const Batches& batches, double most_us)
        : most_(internal::ratio_of(most_us, problem.exact.units_per_us)),
          waiting_(batches.waiting),
          too_many_(2 * (problem.exact.total_cores() + 2 * waiting_) + 2),
          pacing_(problem.exact, effort_, batches) {}

    /// The one of least period; where none is within the limit, one of short latency.
    std::optional<Paced> best();

    std::uint64_t frames() const { return frames_; }

  private:
    bool fits(const Paced& found, std::uint64_t frames) const {
        return Wide{found.period.num} * frames * most_.den <= Wide{most_.num} * found.period.den;
    }
    std::uint64_t most_frames(const Paced& found) const {
        const Wide most =
            Wide{most_.num} * found.period.den / std::max<Wide>(1, Wide{most_.den} * found.period.num);
        return static_cast<std::uint64_t>(std::min<Wide>(most, too_many_));
    }
    std::optional<Paced> without_batches();
    std::optional<Paced> with_batches();

    Ratio most_;
    std::uint64_t waiting_;
    // No schedule has more threads at work than there are cores, or halves of them, and batches on devices.
    std::uint64_t too_many_;
    std::uint64_t frames_ = 1;
    Effort effort_{"latency"};
    Pacing pacing_;
};

std::optional<Paced> Limited::best() {
    return waiting_ > 0 ? with_batches() : without_batches();
}

// The more frames there are in flight, the shorter is the period and the longer takes each of them.
std::optional<Paced> Limited::without_batches() {
    std::optional<Paced> best = pacing_.least_period(1);
    std::uint64_t too_many = too_many_;
    while (best && fits(*best, frames_) && too_many - frames_ > 1) {
        const std::uint64_t middle = (frames_ + too_many) / 2;
        std::optional<Paced> found = pacing_.least_period(middle);
        if (fits(*found, middle)) {
            best = std::move(found);
            frames_ = middle;
        } else {
            too_many = middle;
        }
    }
    return best;
}

// Too few frames fill no batch in time, and too many wait for each other: of those that fit the most have the
// least period. Fewer have no shorter one, so those that would be too many with it need not be tried.
std::optional<Paced> Limited::with_batches() {
    std::optional<Paced> fastest = pacing_.least_period(0);
    if (!fastest) return {};
    for (frames_ = most_frames(*fastest); frames_ > waiting_;) {
        std::optional<Paced> found = pacing_.least_period(frames_);
        if (!found || fits(*found, frames_)) return found;
        frames_ = std::min(frames_ - 1, most_frames(*found));
    }
    return fastest;
}

std::optional<PacedSchedule> within_latency_with(const DeviceUse& use, double most_us, const Chain& chain,
                                                 const CostModel& model) {
    const Problem problem = problem_of(use.chain, use.cores, model_for(use, model));
    Limited limited(problem, batches_of(use, problem.exact), most_us);
    const std::optional<Paced> best = limited.best();
    if (!best) return {};
    const Schedule schedule = made_of(best->solution, problem, use, chain, model);
    if (!use.kinds.empty()) return with_frames_within(most_us, schedule, chain, model);
    PacedSchedule enough = paced(schedule, chain, model);
    if (enough.frames <= limited.frames()) return enough;
    return with_frames(std::move(enough.schedule), frame_alone(schedule, chain, model),
                       static_cast<std::size_t>(limited.frames()));
}

// `value` is what is to be as small as can be.
PacedSchedule best_use(const Chain& chain, const Platform& cores, const CostModel& model,
                       const auto& made_with, const auto& value) {
    std::optional<PacedSchedule> best;
    for (const DeviceUse& use : internal::device_uses(chain, cores, model)) {
        std::optional<PacedSchedule> made = made_with(use);
        if (made && (!best || value(*made) < value(*best))) best = std::move(made);
    }
    if (!best) refuse_latency(cores);
    return *std::move(best);
}

}  // namespace

PacedSchedule least_latency(const Chain& chain, const Platform& platform, const Objective& objective,
                            const CostModel& model) {
    const Platform cores = usable(platform, objective);
    const double wanted_us = objective.wanted_period_us.value_or(0);
    return best_use(
        chain, cores, model,
        [&](const DeviceUse& use) { return least_latency_with(use, chain, objective, model); },
        [&](const PacedSchedule& made) {
            return std::pair(std::max(made.period_us, wanted_us), made.latency_us);
        });
}

PacedSchedule within_latency(double most_us, const Chain& chain, const Platform& platform,
                             const Objective& objective, const CostModel& model) {
    if (!(most_us > 0))
        throw ScheduleError(fmt::format("latency: a limit of {} us; expected more than 0", most_us));
    if (objective.wanted_period_us)
        throw ScheduleError("latency: a limit and a wanted period; give one of them");
    const Platform cores = usable(platform, objective);
    return best_use(
        chain, cores, model,
        [&](const DeviceUse& use) { return within_latency_with(use, most_us, chain, model); },
        [&](const PacedSchedule& made) {
            return std::pair(std::max(made.latency_us, most_us), made.period_us);
        });
}

}  // namespace tidemill
