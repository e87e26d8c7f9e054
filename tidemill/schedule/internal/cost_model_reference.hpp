#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tidemill/schedule/herad.hpp"
#include "tidemill/schedule/internal/reference.hpp"

namespace tidemill::internal {

/// A scheduling problem with everything that a model can say, in whole numbers, for tests.
struct ModelInstance {
    Instance base;
    std::uint64_t stage_cost = 0;
    std::vector<std::uint64_t> cut_cost{};                  // after each task but the last
    std::vector<std::uint64_t> watts{};                     // [kind]
    std::vector<std::vector<std::uint64_t>> slow_tenths{};  // [kind][busy cores - 1]; empty: none
    std::vector<std::uint64_t> shared_tenths{};             // [kind]; 0: cores are not shared

    CostModel model() const {
        CostModel result{.stage_us = static_cast<double>(stage_cost), .byte_us = 1};
        for (const auto cost : cut_cost) result.bytes_at_cut.push_back(static_cast<double>(cost));
        for (std::size_t kind = 0; kind < watts.size(); ++kind) {
            KindCosts own{.kind = kind_name(kind), .busy_w = static_cast<double>(watts[kind])};
            for (const auto tenths : slow_tenths[kind])
                own.slowdown.push_back(static_cast<double>(tenths) / 10);
            if (shared_tenths[kind] > 0) own.shared_slowdown = static_cast<double>(shared_tenths[kind]) / 10;
            result.kinds.push_back(std::move(own));
        }
        return result;
    }
};

/// One schedule's numbers by the definitions alone; periods in hundredths of a unit.
struct Measured {
    Ratio period;
    std::uint64_t power = 0;
    std::vector<std::uint64_t> halves;  // of cores, per kind
    std::uint64_t stages = 0;
};

/// A stage as enumeration makes it.
struct PlainStage {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t kind = 0;
    std::uint64_t threads = 1;
    bool shares_core = false;
};

inline Measured measure(const ModelInstance& problem, const std::vector<PlainStage>& stages) {
    const Instance& base = problem.base;
    Measured result{{0, 1}, 0, std::vector<std::uint64_t>(base.weights.size(), 0), stages.size()};
    for (const PlainStage& stage : stages)
        result.halves[stage.kind] += stage.shares_core ? stage.threads : 2 * stage.threads;
    for (const PlainStage& stage : stages) {
        const std::uint64_t busy = (result.halves[stage.kind] + 1) / 2;
        const auto& slow = problem.slow_tenths[stage.kind];
        std::uint64_t factor = slow.empty() ? 10 : slow[std::min<std::size_t>(busy, slow.size()) - 1];
        factor *= stage.shares_core ? problem.shared_tenths[stage.kind] : 10;
        std::uint64_t costs = problem.stage_cost;
        if (stage.begin > 0) costs += problem.cut_cost[stage.begin - 1];
        if (stage.end < base.size()) costs += problem.cut_cost[stage.end - 1];
        const Ratio tasks = stage_weight(base, stage.kind, stage.begin, stage.end, stage.threads);
        result.period = std::max(result.period, Ratio{tasks.num * factor + costs * 100, tasks.den});
    }
    for (std::size_t kind = 0; kind < result.halves.size(); ++kind)
        result.power += problem.watts[kind] * ((result.halves[kind] + 1) / 2);
    return result;
}

inline std::vector<PlainStage> plain_stages(const Instance& base, const Schedule& schedule) {
    const Chain chain = to_chain(base);
    std::vector<PlainStage> stages;
    for (const Stage& stage : schedule.stages)
        stages.push_back({stage.first_task, stage.first_task + stage.task_count,
                          chain.kind_index(stage.core_kind), static_cast<std::uint64_t>(stage.threads),
                          stage.shares_core});
    return stages;
}

/// Calls use(stages) for every schedule there is within the cores.
template <class Use>
class EverySchedule {
  public:
    EverySchedule(const ModelInstance& problem, Use use) : problem_(problem), use_(use) {
        for (const int cores : problem.base.cores) left_.push_back(2 * static_cast<std::uint64_t>(cores));
    }

    void run() { extend(0); }

  private:
    void extend(std::size_t begin) {
        if (begin == problem_.base.size()) return use_(stages_);
        for (std::size_t end = begin + 1; end <= problem_.base.size(); ++end)
            for (std::size_t kind = 0; kind < left_.size(); ++kind) {
                try_threads(begin, end, kind, false);
                if (problem_.shared_tenths[kind] > 0) try_threads(begin, end, kind, true);
            }
    }

    void try_threads(std::size_t begin, std::size_t end, std::size_t kind, bool shares_core) {
        if (!all_run(problem_.base, kind, begin, end)) return;
        const std::uint64_t halves = shares_core ? 1 : 2;
        const bool replicable = stage_weight(problem_.base, kind, begin, end, 2).den == 2;
        for (std::uint64_t threads = 1; threads <= (replicable ? left_[kind] / halves : 1); ++threads) {
            if (left_[kind] < threads * halves) return;
            left_[kind] -= threads * halves;
            stages_.push_back({begin, end, kind, threads, shares_core});
            extend(end);
            stages_.pop_back();
            left_[kind] += threads * halves;
        }
    }

    const ModelInstance& problem_;
    Use use_;
    std::vector<std::uint64_t> left_;
    std::vector<PlainStage> stages_;
};

/// Numbers of all schedules, each once.
inline std::vector<Measured> all_schedules(const ModelInstance& problem) {
    std::vector<Measured> all;
    const auto add = [&](const std::vector<PlainStage>& stages) { all.push_back(measure(problem, stages)); };
    EverySchedule(problem, add).run();
    return all;
}

/// What random instances have beyond the published model.
struct ModelParts {
    bool costs = false;
    bool slowdowns = false;
    bool shared_cores = false;
};

inline ModelInstance random_model_instance(Random& random, const Shape& shape, const ModelParts& parts) {
    const auto number = [&](int least, int most) {
        return static_cast<std::uint64_t>(uniform(random, least, most));
    };
    ModelInstance problem{.base = random_instance(random, shape)};
    if (parts.costs) problem.stage_cost = number(0, 3);
    for (std::size_t cut = 1; cut < problem.base.size(); ++cut)
        problem.cut_cost.push_back(parts.costs ? number(0, 9) : 0);
    for (std::size_t kind = 0; kind < problem.base.weights.size(); ++kind) {
        problem.watts.push_back(number(0, 5));
        problem.shared_tenths.push_back(parts.shared_cores ? number(10, 20) * number(0, 1) : 0);
        auto& slow = problem.slow_tenths.emplace_back();
        if (!parts.slowdowns) continue;
        for (int busy = 0; busy < uniform(random, 0, 3); ++busy)
            slow.push_back((slow.empty() ? 10 : slow.back()) + number(0, 4));
    }
    return problem;
}

}  // namespace tidemill::internal
