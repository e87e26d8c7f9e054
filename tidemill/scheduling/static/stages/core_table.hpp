#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tidemill/scheduling/static/stages/stage_options.hpp"

namespace tidemill::internal {

/// Costs that a table counts: units of one pool (of none when it is kNoPool) at `per_unit`, stages at
/// `per_stage`.
struct CoreCosts {
    static constexpr std::size_t kNoPool = std::numeric_limits<std::size_t>::max();
    std::size_t counted_pool = 0;
    std::size_t per_unit = 1;
    std::size_t per_stage = 0;
};

/// For the first j tasks and each bound on the units of all pools but the counted one: the least cost. Row j,
/// column = mixed-radix number of the bounds.
template <class Value>
class CoreTable {
  public:
    CoreTable(const ExactChain& chain, const CoreCosts& costs)
        : chain_(chain), costs_(costs), strides_(chain.pools.size(), 0) {
        for (std::size_t pool = chain.pools.size(); pool-- > 0;) {
            if (pool == costs.counted_pool) continue;
            strides_[pool] = states_;
            states_ *= chain.pools[pool].units + 1;
        }
        row_size_ = whole_vectors(states_) + kLanes;
        cells_.resize((chain.size + 1) * row_size_);
        if (costs.counted_pool != CoreCosts::kNoPool)
            too_much_ = costs.per_unit * (chain.pools[costs.counted_pool].units + 1);
    }

    /// More than any cost a table may hold: per_unit * (units + 1) must not exceed it.
    static constexpr Value kImpossible = std::numeric_limits<Value>::max() / 2;

    /// Fills the table for the stages of one period; false when the whole chain does not fit the limits.
    bool fill(const StageOptions& options) {
        std::fill_n(row(0), row_size_, Value{0});
        for (std::size_t end = 1; end <= chain_.size; ++end) {
            std::fill_n(row(end), row_size_, kImpossible);
            // A border that no schedule can have is no end yet: stages across it may do.
            options.effort().spend(options.ending_at(end).size() * states_);
            for (const StageOption& option : options.ending_at(end))
                if (is_possible(option.begin, states_ - 1)) relax(end, option);
        }
        return possible(states_ - 1);
    }

    /// Least cost for the first `end` tasks within a state's bounds.
    Value cost(std::size_t end, std::size_t state) const { return cells_[end * row_size_ + state]; }

    /// Whether a state's bounds suffice for the whole chain, within the counted pool too.
    bool possible(std::size_t state) const { return is_possible(chain_.size, state); }

    /// Number of states; the last one allows all cores within the limits.
    std::size_t states() const { return states_; }

    /// Distance of states that differ by one unit of a pool; 0 for the counted one.
    std::size_t stride(std::size_t pool) const { return strides_[pool]; }

    /// Units of a pool that the cheapest solution within a state's bounds may use; counts for the counted
    /// pool.
    std::size_t units(std::size_t pool, std::size_t state) const {
        if (pool == costs_.counted_pool)
            return static_cast<std::size_t>(cost(chain_.size, state)) / costs_.per_unit;
        return bound(state, pool);
    }

    /// The stages of a cheapest solution within a state's bounds, first stage first; ends are the next
    /// one's begins.
    std::vector<StageOption> solution(const StageOptions& options, std::size_t state) const {
        std::vector<StageOption> stages;
        for (std::size_t end = chain_.size; end > 0; end = stages.back().begin) {
            const auto candidates = options.ending_at(end);
            const auto chosen = std::ranges::find_if(
                candidates, [&](const StageOption& option) { return leads_to(end, state, option); });
            assert(chosen != candidates.end());
            stages.push_back(*chosen);
            state -= draw_of(*chosen).shift;
        }
        std::reverse(stages.begin(), stages.end());
        return stages;
    }

  private:
    // Cells of a 16-byte vector, the least that any 64-bit machine has.
    static constexpr std::size_t kLanes = 16 / sizeof(Value);

    static std::size_t whole_vectors(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

    Value* row(std::size_t end) { return cells_.data() + end * row_size_; }

    bool is_possible(std::size_t end, std::size_t state) const {
        return static_cast<std::size_t>(cost(end, state)) < too_much_;
    }

    std::size_t bound(std::size_t state, std::size_t pool) const {
        if (strides_[pool] == 0) return chain_.pools[pool].units;
        return state / strides_[pool] % (chain_.pools[pool].units + 1);
    }

    /// Cost of an option: of pools that have states, units; of the others, their price.
    struct Draw {
        struct Units {
            std::size_t stride;
            std::size_t units;
            std::size_t block;  // states from one round of the pool's digit to the next
        };
        std::array<Units, kMostMixedKinds> pools;  // largest strides first
        std::size_t count = 0;
        std::size_t shift = 0;
        std::size_t price = 0;
    };

    Draw draw_of(const StageOption& option) const {
        Draw draw;
        draw.price = costs_.per_stage;
        option.for_each_kind(chain_, [&](std::size_t kind, std::size_t cores) {
            const std::size_t pool = chain_.kinds[kind].pool;
            const std::size_t units = cores * chain_.kinds[kind].share;
            if (pool == costs_.counted_pool) {
                draw.price += costs_.per_unit * units;
                return;
            }
            draw.pools[draw.count++] = {strides_[pool], units,
                                        strides_[pool] * (chain_.pools[pool].units + 1)};
            draw.shift += strides_[pool] * units;
        });
        return draw;
    }

    bool leads_to(std::size_t end, std::size_t state, const StageOption& option) const {
        const Draw draw = draw_of(option);
        for (std::size_t i = 0; i < draw.count; ++i) {
            const auto& [stride, units, block] = draw.pools[i];
            if (state % block / stride < units) return false;
        }
        return cost(option.begin, state - draw.shift) + static_cast<Value>(draw.price) == cost(end, state);
    }

    // Takes the least of what is there and of what the option leads to, for all states at once; runs of
    // neighbouring states are contiguous in both rows, so this vectorises.
    void relax(std::size_t end, const StageOption& option) {
        const Draw draw = draw_of(option);
        relax_block(row(end), row(option.begin), draw, 0, 0, states_);
    }

    // The states [begin, begin + size), whose digits suffice for the first pools of the draw.
    void relax_block(Value* to, const Value* from, const Draw& draw, std::size_t first, std::size_t begin,
                     std::size_t size) {
        if (first == draw.count) {
            // A run that ends with the row may spill into its padding, which spares the loop's scalar rest.
            const std::size_t count = begin + size == states_ ? whole_vectors(size) : size;
            relax_run(to + begin, from + begin - draw.shift, count, static_cast<Value>(draw.price));
            return;
        }
        const auto& [stride, units, block] = draw.pools[first];
        const std::size_t taken = units * stride;
        for (std::size_t base = begin; base < begin + size; base += block)
            relax_block(to, from, draw, first + 1, base + taken, block - taken);
    }

    static void relax_run(Value* __restrict to, const Value* __restrict from, std::size_t count,
                          Value price) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto candidate = static_cast<Value>(from[i] + price);
            to[i] = candidate < to[i] ? candidate : to[i];
        }
    }

    const ExactChain& chain_;
    CoreCosts costs_;
    std::size_t too_much_ = kImpossible;
    std::vector<std::size_t> strides_;  // 0 for the counted pool
    std::size_t states_ = 1;
    std::size_t row_size_ = 0;  // states, then padding
    std::vector<Value> cells_;
};

}  // namespace tidemill::internal
