#include <algorithm>
#include <span>

#include "tidemill/scheduling/static/cluster_placement.hpp"
#include "tidemill/scheduling/static/frame_alone.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {
namespace {

/// Threads of a stage on one kind of cores, each of which has `letters` of `length` frames.
struct Threads {
    std::string_view kind;
    std::size_t count = 1;
    std::size_t letters = 1;
    std::size_t length = 1;

    double share_of(double us) const {
        return us * static_cast<double>(letters) / static_cast<double>(length);
    }
};

std::vector<Threads> threads_of(const Stage& stage, const Chain& chain) {
    if (!stage.word) {
        const auto count = static_cast<std::size_t>(stage.threads);
        const bool shared = std::ranges::all_of(tasks_of(stage, chain), &ChainTask::replicable);
        return {{stage.core_kind, count, 1, shared ? count : 1}};
    }
    std::vector<Threads> threads;
    for (std::size_t thread = 0; thread < stage.word->kinds.size(); ++thread)
        threads.push_back(
            {stage.word->kinds[thread], 1, stage.word->count(thread), stage.word->letters.size()});
    return threads;
}

// Group of one thread.
const Threads& group_of(const std::vector<Threads>& groups, std::size_t thread) {
    return groups.size() == 1 ? groups.front() : groups[thread];
}

double frame_us(const Stage& stage, const Chain& chain, std::string_view kind) {
    const std::size_t index = chain.kind_index(kind);
    double sum_us = 0;
    for (const ChainTask& task : tasks_of(stage, chain)) sum_us += task_weight_us(task, index, stage);
    return std::max(0.0, sum_us - resident_us(stage, chain));  // or a rounding step below
}

// Cost of a stage beyond its tasks: itself, and its cuts.
double costs_of(const Stage& stage, const Chain& chain, const CostModel& model) {
    const std::size_t end = stage.first_task + stage.task_count;
    double costs_us = model.stage_us;
    if (stage.first_task > 0) costs_us += model.cut_us(stage.first_task - 1);
    if (end < chain.tasks.size()) costs_us += model.cut_us(end - 1);
    return costs_us;
}

/// How long each of some threads is busy with an execution.
struct Busy {
    std::string_view kind;
    std::size_t threads;
    double each_us;
};

// The same threads one by one.
std::vector<Busy> each_of(const std::vector<Busy>& times) {
    std::vector<Busy> threads;
    for (const Busy& busy : times) threads.insert(threads.end(), busy.threads, {busy.kind, 1, busy.each_us});
    return threads;
}

/// The times of a schedule's threads under a model: with costs, those of far cuts included, slowed down as
/// their kind's cores are busy, and kept waiting by the threads of devices.
class Times {
  public:
    Times(const Schedule& schedule, const Chain& chain, const CostModel& model)
        : schedule_(schedule),
          chain_(chain),
          model_(model),
          waiting_us_(host_us(schedule, chain)),
          far_us_(far_cuts_us(schedule, model)) {
        for (const auto& [name, busy] : cores_used(schedule)) {
            const KindCosts kind = model.kind(name);
            kinds_.push_back(
                {name, kind.slowdown.empty() ? 1 : slowdown(kind, busy), kind.shared_slowdown.value_or(1)});
        }
    }

    double waiting_us() const { return waiting_us_; }

    std::vector<Busy> of(std::size_t s) const {
        const Stage& stage = schedule_.stages[s];
        const double costs_us = costs_of(stage, chain_, model_);
        std::vector<Busy> times;
        for (const Threads& threads : threads_of(stage, chain_)) {
            const Factors& kind = *std::ranges::find(kinds_, threads.kind, &Factors::kind);
            const double tasks_us = threads.share_of(frame_us(stage, chain_, threads.kind)) * kind.busy *
                                    (stage.shares_core ? kind.shared : 1);
            times.push_back(
                {threads.kind, threads.count, tasks_us + threads.share_of(costs_us) + waiting_us_});
        }
        if (far_us_.empty()) return times;
        times = each_of(times);
        for (std::size_t thread = 0; thread < times.size(); ++thread)
            times[thread].each_us += far_us_[s][thread];
        return times;
    }

  private:
    struct Factors {
        std::string kind;
        double busy;
        double shared;
    };

    const Schedule& schedule_;
    const Chain& chain_;
    const CostModel& model_;
    double waiting_us_;
    std::vector<std::vector<double>> far_us_;
    std::vector<Factors> kinds_{};
};

// With so few frames in flight, a place is taken anew when one has gone through all stages.
double no_less_than_in_flight(double period_us, const Schedule& schedule, const Chain& chain,
                              const CostModel& model) {
    if (!schedule.frames_in_flight) return period_us;
    return std::max(period_us, frame_alone(schedule, chain, model).period_us(*schedule.frames_in_flight));
}

}  // namespace

double task_weight_us(const ChainTask& task, std::size_t kind, const Stage& stage) {
    const BatchCost* cost = stage.batch ? batch_cost(task, stage.core_kind) : nullptr;
    return cost ? cost->weight_us(*stage.batch) : task.weight_us[kind];
}

double resident_us(const Stage& stage, const Chain& chain) {
    double saved_us = 0;
    const BatchCost* before = nullptr;
    for (const ChainTask& task : tasks_of(stage, chain)) {
        const BatchCost* cost = stage.batch ? batch_cost(task, stage.core_kind) : nullptr;
        if (cost && before)
            saved_us += before->share_us(before->out, *stage.batch) + cost->share_us(cost->in, *stage.batch);
        before = cost;
    }
    return saved_us;
}

double stage_weight_us(const Stage& stage, const Chain& chain) {
    double most_us = 0;
    for (const Threads& threads : threads_of(stage, chain))
        most_us = std::max(most_us, threads.share_of(frame_us(stage, chain, threads.kind)));
    return most_us;
}

double host_us(const Schedule& schedule, const Chain& chain) {
    double sum_us = 0;
    for (const Stage& stage : schedule.stages)
        for (const ChainTask& task : tasks_of(stage, chain))
            if (const BatchCost* cost = batch_cost(task, stage.core_kind))
                sum_us += cost->frames * cost->host_us;
    return sum_us;
}

double period_us(const Schedule& schedule, const Chain& chain) {
    double period = 0;
    for (const Stage& stage : schedule.stages) period = std::max(period, stage_weight_us(stage, chain));
    for (const auto& [owner, seats] : schedule.owners()) {
        double sum_us = 0;
        for (const Seat& seat : seats) {
            const Stage& stage = schedule.stages[seat.stage];
            sum_us +=
                group_of(threads_of(stage, chain), seat.thread).share_of(frame_us(stage, chain, owner.kind));
        }
        period = std::max(period, sum_us);
    }
    return no_less_than_in_flight(period + host_us(schedule, chain), schedule, chain, {});
}

double frames_per_second(const Schedule& schedule, const Profile& profile) {
    return 1e6 * profile.frames_per_execution / period_us(schedule, profile);
}

std::vector<double> stage_weights_us(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    const Times times(schedule, chain, model);
    std::vector<double> weights_us;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        weights_us.push_back(std::ranges::max(times.of(s), {}, &Busy::each_us).each_us);
    return weights_us;
}

std::vector<std::vector<double>> thread_weights_us(const Schedule& schedule, const Chain& chain,
                                                   const CostModel& model) {
    const Times times(schedule, chain, model);
    std::vector<std::vector<double>> weights_us(schedule.stages.size());
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        for (const Busy& busy : each_of(times.of(s))) weights_us[s].push_back(busy.each_us);
    return weights_us;
}

std::map<Owner, double> owner_weights_us(const Schedule& schedule, const Chain& chain,
                                         const CostModel& model) {
    const Times times(schedule, chain, model);
    std::map<Owner, double> weights_us;
    for (const auto& [owner, seats] : schedule.owners()) {
        double sum_us = times.waiting_us();
        for (const Seat& seat : seats) {
            const std::vector<Busy> busy = times.of(seat.stage);
            sum_us += (busy.size() == 1 ? busy.front() : busy[seat.thread]).each_us - times.waiting_us();
        }
        weights_us[owner] = sum_us;
    }
    return weights_us;
}

double period_us(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    if (model.has_published_periods() && model.far_cuts.empty()) return period_us(schedule, chain);
    double period = std::ranges::max(stage_weights_us(schedule, chain, model));
    for (const auto& [owner, weight_us] : owner_weights_us(schedule, chain, model))
        period = std::max(period, weight_us);
    return no_less_than_in_flight(period, schedule, chain, model);
}

double busy_us(const Schedule& schedule, const Chain& chain, const CostModel& model, std::string_view kind) {
    const Times times(schedule, chain, model);
    double sum_us = 0;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        for (const Busy& busy : times.of(s))
            if (busy.kind == kind)
                sum_us += busy.each_us * static_cast<double>(busy.threads) /
                          (schedule.stages[s].shares_core ? 2 : 1);
    return sum_us;
}

}  // namespace tidemill
