#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/exact/ratio.hpp"

namespace tidemill::internal {

/// One way to use the cores of a kind: whole, or as halves that two stages share. A thread takes `share`
/// units of the pool that all ways of the kind draw from; `prefix` has the sums of the first 0..n weights in
/// whole units, where a task that cannot run here counts nothing.
struct ExactKind {
    std::size_t chain_kind = 0;
    int cores = 0;
    std::size_t pool = 0;
    std::size_t share = 1;
    bool shares_core = false;
    std::vector<std::uint64_t> prefix{};
    std::vector<std::size_t> able_begin{};  // [j]: where the tasks up to j-1 begin that all run here; j if
                                            // that one does not. Empty: all do
};

/// The cores of one kind: `per_core` units each, so that halves are whole numbers.
struct CorePool {
    std::size_t chain_kind = 0;
    std::size_t units = 0;
    std::size_t per_core = 1;
    std::size_t whole = 0;  // the ExactKind that uses whole cores
    bool mixes = false;     // whether they may be in a stage with others

    /// Cores that so many units occupy.
    std::size_t cores(std::size_t used) const { return (used + per_core - 1) / per_core; }
};

/// A chain in exact integers, on the kinds that have cores, in the order in which they are to be spared.
struct ExactChain {
    std::size_t size = 0;
    std::vector<ExactKind> kinds;
    std::vector<CorePool> pools;
    /// run_begin[j]: where the replicable run that ends with task j-1 begins; j itself if that task is
    /// sequential.
    std::vector<std::size_t> run_begin;
    std::vector<std::size_t> run_end;  // [j]: the first sequential task from j on, or the chain's end
    std::uint64_t stage_cost = 0;
    std::vector<std::uint64_t> cut_cost;  // [j]: of a cut before task j, 0 at both ends; empty: all free
    double units_per_us = 1;
    std::size_t most_letters = 0;  // of the words of mixed stages; 0: there are none

    /// Weight of tasks [begin, end) on one core of a kind, in units.
    std::uint64_t sum(std::size_t kind, std::size_t begin, std::size_t end) const {
        return kinds[kind].prefix[end] - kinds[kind].prefix[begin];
    }

    /// Whether stages cost more than their tasks.
    bool has_costs() const { return !cut_cost.empty(); }

    /// sum() and what a stage costs beyond it.
    std::uint64_t weight(std::size_t kind, std::size_t begin, std::size_t end) const {
        const std::uint64_t tasks = sum(kind, begin, end);
        return has_costs() ? tasks + stage_cost + cut_cost[begin] + cut_cost[end] : tasks;
    }

    /// Whether all tasks of [begin, end) are replicable.
    bool replicable(std::size_t begin, std::size_t end) const { return run_begin[end] <= begin; }

    /// Where the longest stage may begin on a kind that ends before task `end`, as far as tasks run there.
    std::size_t able_begin(std::size_t kind, std::size_t end) const {
        return kinds[kind].able_begin.empty() ? 0 : kinds[kind].able_begin[end];
    }

    /// Whether a task runs on a kind.
    bool runs(std::size_t kind, std::size_t task) const { return able_begin(kind, task + 1) <= task; }

    /// Whether each task runs on each kind.
    bool runs_everywhere() const {
        return std::ranges::all_of(kinds, [](const ExactKind& kind) { return kind.able_begin.empty(); });
    }

    /// Whether every thread has a core of its own, tasks run anywhere and stages cost what their tasks do.
    bool is_published() const { return !has_costs() && kinds.size() == pools.size() && runs_everywhere(); }

    /// Cores of all kinds.
    std::uint64_t total_cores() const;
};

/// Scales decimal weights to integers without rounding; throws ScheduleError when one needs more than 2^53
/// units, when sums leave 61 bits, when the platform has no cores, or one of a kind that the chain does not
/// weigh, or none that a task runs on. Cores are as slow as the model says when all of `platform` are busy;
/// the units do not depend on how many those are. With letters, stages may be mixed: sums have to leave 58
/// bits, and kinds with cores may be no more than kMostMixedKinds.
ExactChain exact_chain(const Chain& chain, const Platform& platform, const CostModel& model = {},
                       std::size_t most_letters = 0);

/// Kinds of cores that may be mixed: a search keeps the numbers of a stage's cores in 32 bits.
inline constexpr std::size_t kMostMixedKinds = 8;

}  // namespace tidemill::internal
