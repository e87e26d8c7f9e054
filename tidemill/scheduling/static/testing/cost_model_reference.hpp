#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"

namespace tidemill::internal {

/// A scheduling problem with everything that a model can say, in whole numbers, for tests.
struct ModelInstance {
    Instance base;
    std::uint64_t stage_cost = 0;
    std::vector<std::uint64_t> cut_cost{};                  // after each task but the last
    std::vector<std::uint64_t> watts{};                     // [kind]
    std::vector<std::vector<std::uint64_t>> slow_tenths{};  // [kind][busy cores - 1]; empty: none
    std::vector<std::uint64_t> shared_tenths{};             // [kind]; 0: cores are not shared
    std::size_t most_letters = 0;                           // of mixed stages' words; 0: there are none

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
    std::vector<std::size_t> kinds{};  // [thread], of a mixed stage
    Letters letters{};                 // of its word
};

/// By what weights are multiplied where so many half cores of a kind are busy, in hundredths.
inline std::uint64_t slowed(const ModelInstance& problem, std::size_t kind, std::uint64_t halves) {
    const auto& slow = problem.slow_tenths[kind];
    return 10 * (slow.empty() ? 10 : slow[std::min<std::size_t>((halves + 1) / 2, slow.size()) - 1]);
}

inline Ratio period_of(const ModelInstance& problem, const PlainStage& stage,
                       const std::vector<std::uint64_t>& halves) {
    const Instance& base = problem.base;
    std::uint64_t costs = problem.stage_cost;
    if (stage.begin > 0) costs += problem.cut_cost[stage.begin - 1];
    if (stage.end < base.size()) costs += problem.cut_cost[stage.end - 1];
    std::vector<std::uint64_t> times(stage.kinds.size(), 0);  // of the threads, in a round
    for (const std::size_t thread : stage.letters) {
        const std::size_t kind = stage.kinds[thread];
        const Ratio tasks = stage_weight(base, kind, stage.begin, stage.end, 1);
        times[thread] += tasks.num * slowed(problem, kind, halves[kind]) + costs * 100;
    }
    if (!times.empty()) return {*std::max_element(times.begin(), times.end()), stage.letters.size()};
    std::uint64_t factor = slowed(problem, stage.kind, halves[stage.kind]);
    if (stage.shares_core) factor = factor / 10 * problem.shared_tenths[stage.kind];
    const Ratio tasks = stage_weight(base, stage.kind, stage.begin, stage.end, stage.threads);
    return {tasks.num * factor + costs * 100, tasks.den};
}

inline Measured measure(const ModelInstance& problem, const std::vector<PlainStage>& stages) {
    Measured result{{0, 1}, 0, std::vector<std::uint64_t>(problem.base.weights.size(), 0), stages.size()};
    for (const PlainStage& stage : stages) {
        for (const std::size_t kind : stage.kinds) result.halves[kind] += 2;
        if (stage.kinds.empty())
            result.halves[stage.kind] += stage.shares_core ? stage.threads : 2 * stage.threads;
    }
    for (const PlainStage& stage : stages)
        result.period = std::max(result.period, period_of(problem, stage, result.halves));
    for (std::size_t kind = 0; kind < result.halves.size(); ++kind)
        result.power += problem.watts[kind] * ((result.halves[kind] + 1) / 2);
    return result;
}

inline std::vector<PlainStage> plain_stages(const Instance& base, const Schedule& schedule) {
    const Chain chain = to_chain(base);
    std::vector<PlainStage> stages;
    for (const Stage& stage : schedule.stages) {
        const std::size_t end = stage.first_task + stage.task_count;
        if (stage.word) {
            PlainStage& mixed = stages.emplace_back(PlainStage{stage.first_task, end});
            for (const std::string& kind : stage.word->kinds) mixed.kinds.push_back(chain.kind_index(kind));
            mixed.letters = stage.word->letters;
            continue;
        }
        stages.push_back({stage.first_task, end, chain.kind_index(stage.core_kind),
                          static_cast<std::uint64_t>(stage.threads), stage.shares_core});
    }
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
        for (std::size_t end = begin + 1; end <= problem_.base.size(); ++end) {
            for (std::size_t kind = 0; kind < left_.size(); ++kind) {
                try_threads(begin, end, kind, false);
                if (problem_.shared_tenths[kind] > 0) try_threads(begin, end, kind, true);
            }
            if (problem_.most_letters > 0 && is_replicable(begin, end)) try_mixed({begin, end}, 0);
        }
    }

    bool is_replicable(std::size_t begin, std::size_t end) const {
        return stage_weight(problem_.base, 0, begin, end, 2).den == 2;
    }

    // Any whole cores of the kinds from `kind` on beside those that the stage has, each of their words.
    void try_mixed(PlainStage stage, std::size_t kind) {
        if (kind == left_.size()) return try_words(stage);
        try_mixed(stage, kind + 1);
        if (stage.kinds.size() == problem_.most_letters || left_[kind] < 2) return;
        if (!all_run(problem_.base, kind, stage.begin, stage.end)) return;
        stage.kinds.push_back(kind);
        left_[kind] -= 2;
        try_mixed(stage, kind);
        left_[kind] += 2;
    }

    void try_words(PlainStage stage) {
        if (stage.kinds.empty() || stage.kinds.front() == stage.kinds.back()) return;
        for (const Letters& letters : words_of(stage.kinds.size(), problem_.most_letters)) {
            stage.letters = letters;
            stages_.push_back(stage);
            extend(stage.end);
            stages_.pop_back();
        }
    }

    void try_threads(std::size_t begin, std::size_t end, std::size_t kind, bool shares_core) {
        if (!all_run(problem_.base, kind, begin, end)) return;
        const std::uint64_t halves = shares_core ? 1 : 2;
        for (std::uint64_t threads = 1; threads <= (is_replicable(begin, end) ? left_[kind] / halves : 1);
             ++threads) {
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

/// Parts of random instances beyond the published model.
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
