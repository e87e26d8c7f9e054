#include "tidemill/scheduling/model/packed_latency.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/packed.hpp"

namespace tidemill {
namespace {

constexpr double kAsGood = 1.001;  // of periods: a simulation's end is no round's
constexpr int kPeriods = 10;       // that packings are made for
constexpr double kEffort = 0.1;    // of a search, for each of them

/// A schedule whose threads own several stages, with any number of frames in flight.
class ByEvents {
  public:
    ByEvents(Schedule schedule, const Chain& chain, const CostModel& model)
        : schedule_(std::move(schedule)), model_(model_of(unlimited(schedule_), chain, {.model = model})) {}

    /// As many as stages hold: more change nothing.
    std::size_t most_frames() const { return most_frames_; }

    /// A simulation that ends in the middle of a round may look shorter than its busiest thread.
    PacedSchedule with(std::size_t frames) {
        model_.tokens = frames;
        const double period_us =
            std::max(settled_period_us(model_), simulate(model_, frames_to_settle(frames)).period_us);
        Schedule schedule = schedule_;
        schedule.frames_in_flight = static_cast<int>(frames);
        schedule.period_us = period_us;
        return {std::move(schedule), frames, period_us, period_us * static_cast<double>(frames)};
    }

    /// The most with which `is_few`, if any: with more, frames take longer.
    std::size_t most_with(const std::function<bool(const PacedSchedule&)>& is_few) {
        std::size_t enough = 0;
        for (std::size_t too_many = most_frames() + 1; too_many - enough > 1;) {
            const std::size_t middle = (enough + too_many) / 2;
            (is_few(with(middle)) ? enough : too_many) = middle;
        }
        return enough;
    }

  private:
    static Schedule unlimited(Schedule schedule) {
        schedule.frames_in_flight.reset();
        return schedule;
    }

    static std::uint64_t frames_to_settle(std::size_t in_flight) {
        return std::clamp<std::uint64_t>(32 * in_flight, 256, 4096);
    }

    Schedule schedule_;
    PipelineModel model_;
    std::size_t most_frames_ = model_.tokens;
};

// Periods from the bound to what is known to be possible.
std::vector<double> periods_between(double bound_us, double possible_us) {
    std::vector<double> periods_us;
    for (int i = 0; i < kPeriods && bound_us > 0 && bound_us < possible_us; ++i)
        periods_us.push_back(bound_us * std::pow(possible_us / bound_us, static_cast<double>(i) / kPeriods));
    return periods_us;
}

// The best of the first one and of packings for other periods.
PacedSchedule best_of(PacedSchedule best, std::vector<double> periods_us, const Chain& chain,
                      const Platform& platform, Objective objective, const CostModel& model,
                      const std::function<PacedSchedule(const Schedule&)>& paced,
                      const std::function<std::pair<double, double>(const PacedSchedule&)>& value) {
    for (const double period_us : periods_us) {
        objective.wanted_period_us = period_us;
        const Schedule made = packed(chain, platform, objective, model, kPackedLetters, kEffort);
        if (made.owners().empty()) continue;
        PacedSchedule other = paced(made);
        const auto [first, second] = value(best);
        const auto [others_first, others_second] = value(other);
        const bool is_better =
            others_first * kAsGood < first || (others_first <= first && others_second * kAsGood < second);
        if (is_better) best = std::move(other);
    }
    best.schedule.made_by = "packed";
    return best;
}

}  // namespace

PacedSchedule paced_by_events(Schedule schedule, const Chain& chain, const CostModel& model) {
    if (schedule.owners().empty()) return paced(std::move(schedule), chain, model);
    ByEvents events(std::move(schedule), chain, model);
    const double least_us = events.with(events.most_frames()).period_us;
    const std::size_t too_few =
        events.most_with([&](const PacedSchedule& made) { return made.period_us > kAsGood * least_us; });
    return events.with(std::min(too_few + 1, events.most_frames()));
}

PacedSchedule packed_least_latency(const Chain& chain, const Platform& platform, const Objective& objective,
                                   const CostModel& model) {
    const PacedSchedule stages = least_latency(chain, platform, objective, model);
    const double bound_us = bound_of(chain, usable(platform, objective), model).period_us;
    const double wanted_us = objective.wanted_period_us.value_or(0);
    return best_of(
        stages, periods_between(std::max(bound_us, wanted_us), stages.period_us), chain, platform, objective,
        model, [&](const Schedule& made) { return paced_by_events(made, chain, model); },
        [&](const PacedSchedule& made) {
            return std::pair(std::max(made.period_us, wanted_us), made.latency_us);
        });
}

PacedSchedule packed_within_latency(double most_us, const Chain& chain, const Platform& platform,
                                    const Objective& objective, const CostModel& model) {
    const PacedSchedule stages = within_latency(most_us, chain, platform, objective, model);
    const double bound_us = bound_of(chain, usable(platform, objective), model).period_us;
    const auto within = [&](const Schedule& made) {
        ByEvents events(made, chain, model);
        const std::size_t most =
            events.most_with([&](const PacedSchedule& paced) { return paced.latency_us <= most_us; });
        PacedSchedule enough = paced_by_events(made, chain, model);
        return enough.frames <= most ? enough : events.with(std::max<std::size_t>(1, most));
    };
    return best_of(stages, periods_between(bound_us, stages.period_us), chain, platform, objective, model,
                   within, [&](const PacedSchedule& made) {
                       return std::pair(std::max(made.latency_us, most_us), made.period_us);
                   });
}

}  // namespace tidemill
