#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tidemill/schedule/detail_stage_options.hpp"

namespace tidemill::detail {

/// The shape of the search: how many cores of each kind may be used, and which kind is counted instead of
/// bounded.
struct CoreLimits {
    std::vector<std::size_t> cores;
    std::size_t counted_kind = 0;
};

/// For the first j tasks and each bound on the cores of all other kinds: the least cost, where a core of the
/// counted kind costs `per_core` and a stage costs `per_stage`. Row j, column = mixed-radix number of the
/// bounds.
template <class Value>
class CoreTable {
  public:
    CoreTable(const ExactChain& chain, CoreLimits limits, Value per_core, Value per_stage)
        : chain_(chain), limits_(std::move(limits)), per_core_(per_core), per_stage_(per_stage) {
        std::size_t stride = 1;
        strides_.assign(limits_.cores.size(), 0);
        for (std::size_t kind = limits_.cores.size(); kind-- > 0;) {
            if (kind == limits_.counted_kind) continue;
            strides_[kind] = stride;
            stride *= limits_.cores[kind] + 1;
        }
        states_ = stride;
        row_size_ = whole_vectors(states_) + kLanes;
        cells_.resize((chain.size + 1) * row_size_);
    }

    /// More than any cost a table may hold: per_core * (cores + 1) must not exceed it.
    static constexpr Value kImpossible = std::numeric_limits<Value>::max() / 2;

    /// Fills the table for the stages of one period; false when the whole chain does not fit the limits.
    bool fill(const StageOptions& options) {
        std::fill_n(row(0), row_size_, Value{0});
        for (std::size_t end = 1; end <= chain_.size; ++end) {
            std::fill_n(row(end), row_size_, kImpossible);
            for (const StageOption& option : options.ending_at(end)) relax(end, option);
            if (!possible(end)) return false;
        }
        return true;
    }

    /// Least cost for the first `end` tasks within a state's bounds.
    Value cost(std::size_t end, std::size_t state) const { return cells_[end * row_size_ + state]; }

    /// The state that allows all cores within the limits.
    std::size_t last_state() const { return states_ - 1; }

    /// Distance of states that differ by one core of a kind other than the counted one.
    std::size_t stride(std::size_t kind) const { return strides_[kind]; }

    /// The stages of a cheapest solution within a state's bounds, first stage first; ends are the next
    /// one's begins.
    std::vector<StageOption> solution(const StageOptions& options, std::size_t state) const {
        std::vector<StageOption> stages;
        for (std::size_t end = chain_.size; end > 0; end = stages.back().begin) {
            const auto candidates = options.ending_at(end);
            const auto chosen = std::ranges::find_if(
                candidates, [&](const StageOption& option) { return leads_to(end, state, option); });
            assert(chosen != candidates.end());
            stages.push_back({chosen->begin, chosen->kind, chosen->cores});
            state -= chosen->cores * strides_[chosen->kind];
        }
        std::reverse(stages.begin(), stages.end());
        return stages;
    }

  private:
    // Cells of a 16-byte vector, the least that any 64-bit machine has.
    static constexpr std::size_t kLanes = 16 / sizeof(Value);

    static std::size_t whole_vectors(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

    Value* row(std::size_t end) { return cells_.data() + end * row_size_; }

    bool possible(std::size_t end) const {
        const std::size_t one_too_many = per_core_ * (limits_.cores[limits_.counted_kind] + 1);
        return static_cast<std::size_t>(cost(end, states_ - 1)) < one_too_many;
    }

    // How many cores of a kind a state allows.
    std::size_t bound(std::size_t state, std::size_t kind) const {
        if (kind == limits_.counted_kind) return limits_.cores[kind];
        return state / strides_[kind] % (limits_.cores[kind] + 1);
    }

    bool leads_to(std::size_t end, std::size_t state, const StageOption& option) const {
        if (bound(state, option.kind) < option.cores) return false;
        const std::size_t before = state - option.cores * strides_[option.kind];
        return cost(option.begin, before) + price(option) == cost(end, state);
    }

    Value price(const StageOption& option) const {
        const bool counted = option.kind == limits_.counted_kind;
        return static_cast<Value>(per_stage_ + (counted ? per_core_ * option.cores : 0));
    }

    // Takes the least of what is there and of what the option leads to, for all states at once; runs of
    // neighbouring states are contiguous in both rows, so this vectorises.
    void relax(std::size_t end, const StageOption& option) {
        const std::size_t shift = option.cores * strides_[option.kind];
        const std::size_t block = option.kind == limits_.counted_kind
                                      ? states_
                                      : strides_[option.kind] * (limits_.cores[option.kind] + 1);
        // A run that ends with the row may spill into its padding, which spares the loop's scalar rest.
        const std::size_t count = block == states_ ? whole_vectors(block - shift) : block - shift;
        for (std::size_t base = 0; base < states_; base += block)
            relax_run(row(end) + base + shift, row(option.begin) + base, count, price(option));
    }

    static void relax_run(Value* __restrict to, const Value* __restrict from, std::size_t count,
                          Value price) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto candidate = static_cast<Value>(from[i] + price);
            to[i] = candidate < to[i] ? candidate : to[i];
        }
    }

    const ExactChain& chain_;
    CoreLimits limits_;
    Value per_core_;
    Value per_stage_;
    std::vector<std::size_t> strides_;  // 0 for the counted kind
    std::size_t states_ = 1;
    std::size_t row_size_ = 0;  // states, then padding
    std::vector<Value> cells_;
};

}  // namespace tidemill::detail
