#include "tidemill/scheduling/static/bound.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/work_split.hpp"

namespace tidemill {
namespace {

constexpr double kReached = 0.0005;  // prints as 0.0 %
constexpr double kIdle = 0.005;      // less prints as 0 %

// How many cores of a kind, each as fast as one alone, do what so many can: with slowdowns fewer may do more.
double worth(const KindCosts& kind, int cores) {
    const auto together = [&](int busy) { return busy * slowdown(kind, 1) / slowdown(kind, busy); };
    double most = together(cores);
    for (int busy = 1; busy < std::min(cores, static_cast<int>(kind.slowdown.size())); ++busy)
        most = std::max(most, together(busy));
    return most;
}

/// The chain's work on the cores that there are.
class Work {
  public:
    Work(const Chain& chain, const Platform& platform, const CostModel& model) : chain_(chain) {
        for (const auto& [kind, count] : platform.kinds())
            if (count > 0) add_kind(model.kind(kind), chain.kind_index(kind), count);
        if (work_.ways.empty())
            throw ScheduleError("platform: no cores; give at least one, for instance \"big=1\"");
        for (const ChainTask& task : chain.tasks) add_task(task);
    }

    Bound bound() const {
        const LeastPeriod least = least_period(work_);
        Bound bound{least.period};
        if (least.sequential) bound.sequential_task = chain_.tasks[*least.sequential].name;
        return bound;
    }

  private:
    // Two stages may share a core where the model says so: half of it for longer.
    void add_kind(const KindCosts& costs, std::size_t chain_kind, int count) {
        const std::size_t pool = work_.pool_units.size();
        work_.pool_units.push_back(worth(costs, count));
        add_way({pool, 1}, chain_kind, slowdown(costs, 1));
        if (costs.shared_slowdown)
            add_way({pool, 0.5}, chain_kind, slowdown(costs, 1) * *costs.shared_slowdown);
    }

    void add_way(Way way, std::size_t chain_kind, double factor) {
        work_.ways.push_back(way);
        chain_kinds_.push_back(chain_kind);
        factors_.push_back(factor);
    }

    void add_task(const ChainTask& task) {
        work_.sequential.push_back(!task.replicable);
        for (std::size_t way = 0; way < factors_.size(); ++way)
            work_.weights.push_back(task.weight_us[chain_kinds_[way]] * factors_[way]);
        const auto own = std::span(work_.weights).last(factors_.size());
        if (std::ranges::all_of(own, [](double weight) { return weight == kCannotRun; }))
            throw ScheduleError(
                fmt::format("platform: task '{}' runs on none of its cores; add one of a kind that it has a "
                            "weight for",
                            task.name));
    }

    const Chain& chain_;
    SplitWork work_;
    std::vector<std::size_t> chain_kinds_;  // [way]
    std::vector<double> factors_;           // [way]: of weights
};

/// How much of a kind's cores a schedule leaves idle.
struct Idle {
    CoreCount cores;
    double share = 0;

    double in_cores() const { return share * cores.count; }
};

// The kind with most time to spare.
Idle most_idle(const Schedule& schedule, const Chain& chain, const CostModel& model, const Platform& platform,
               double period_us) {
    Idle most;
    for (const CoreCount& kind : platform.kinds()) {
        if (kind.count == 0) continue;
        const Idle idle{kind, 1 - busy_us(schedule, chain, model, kind.kind) / (kind.count * period_us)};
        if (idle.in_cores() > most.in_cores()) most = idle;
    }
    return most;
}

// No other task fits stages with threads of their own; threads that own several have no room for one more.
// Cores that stand still altogether have no such threads.
std::string said(const Idle& idle, bool has_owners) {
    if (idle.share < kIdle) return "all cores are busy, but not all with what they are best at";
    const bool one = idle.cores.count == 1;
    const std::string why =
        has_owners && idle.share < 1
            ? fmt::format("no other stage fits beside those of {}", one ? "its thread" : "their threads")
            : fmt::format("no stage of this schedule fits {}", one ? "it" : "them");
    return fmt::format("{} {} {} {:.0f} %: {}", idle.cores.count, idle.cores.kind,
                       one ? "core idles" : "cores idle", 100 * idle.share, why);
}

// Empty where more frames in flight would not help.
std::string held_up_by_flight(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    Schedule any = schedule;
    any.frames_in_flight.reset();
    if (!schedule.frames_in_flight ||
        period_us(schedule, chain, model) <= period_us(any, chain, model) * (1 + kReached))
        return "";
    return fmt::format("no more than {} frame{} in flight", *schedule.frames_in_flight,
                       *schedule.frames_in_flight == 1 ? " is" : "s are");
}

// Empty where near ones would do no better.
std::string held_up_by_far_cuts(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    CostModel near = model;
    near.far_cuts.clear();
    const double near_us = period_us(schedule, chain, near);
    if (period_us(schedule, chain, model) <= near_us * (1 + kReached)) return "";
    return fmt::format("cuts between clusters of cores are far: were they near, it would be {:.2f} us",
                       near_us);
}

double percent_above(double period_us, double bound_us) {
    return bound_us > 0 ? std::max(0.0, 100 * (period_us / bound_us - 1)) : 0.0;
}

// Nothing where no stages are shorter, numbers are no exact decimals, or kinds too many; nor for chains so
// long that it would keep the answer waiting.
std::optional<double> shorter_by_stages_us(const Chain& chain, const Platform& platform,
                                           const CostModel& model, double period_us) {
    constexpr std::size_t kMostTasks = 1000;
    if (chain.tasks.size() > kMostTasks) return std::nullopt;
    try {
        const Schedule best = mixed(chain, platform, {}, model);
        if (*best.period_us * (1 + kReached) < period_us) return best.period_us;
    } catch (const ScheduleError&) {
    }
    return std::nullopt;
}

std::string what_bounds(const Bound& bound) {
    if (bound.sequential_task)
        return fmt::format("`{}` is sequential and bounds the period", *bound.sequential_task);
    return "the cores can do no more work";
}

}  // namespace

double DistanceToBound::percent() const {
    return percent_above(period_us, bound_us);
}

std::string DistanceToBound::line() const {
    std::string line =
        fmt::format("bound {:.2f} us: the period is {:.1f} % above it; {}\n", bound_us, percent(), between);
    if (stages_us)
        line += fmt::format("stages could do {:.2f} us, {:.1f} % above the bound: --strategy mixed\n",
                            *stages_us, percent_above(*stages_us, bound_us));
    return line;
}

Bound bound_of(const Chain& chain, const Platform& platform, const CostModel& model) {
    check(chain);
    check(model, chain);
    return Work(chain, platform, model).bound();
}

DistanceToBound distance_to_bound(const Schedule& schedule, const Chain& chain, const Platform& platform,
                                  const CostModel& model, double period_us,
                                  std::optional<double> wanted_period_us) {
    const Bound bound = bound_of(chain, platform, model);
    DistanceToBound distance{.period_us = period_us, .bound_us = bound.period_us};
    if (period_us <= bound.period_us * (1 + kReached)) {
        distance.between = what_bounds(bound);
    } else if (wanted_period_us && period_us <= *wanted_period_us) {
        distance.between = fmt::format("a period of {:.2f} us was enough", *wanted_period_us);
    } else if (const std::string held = held_up_by_flight(schedule, chain, model); !held.empty()) {
        distance.between = held;
    } else if (const std::string far = held_up_by_far_cuts(schedule, chain, model); !far.empty()) {
        distance.between = far;
    } else {
        distance.between =
            said(most_idle(schedule, chain, model, platform, period_us), !schedule.owners().empty());
        distance.stages_us = shorter_by_stages_us(chain, platform, model, period_us);
    }
    return distance;
}

}  // namespace tidemill
