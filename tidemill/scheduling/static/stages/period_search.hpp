#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "tidemill/scheduling/static/stages/core_table.hpp"
#include "tidemill/scheduling/static/stages/solution.hpp"

namespace tidemill::internal {

/// Calls use(Value{}) with the smallest integer type whose tables hold costs up to `most`: small is fast.
template <class Use>
std::invoke_result_t<Use, std::uint8_t> with_cells_for(std::size_t most, Use use) {
    if (most <= CoreTable<std::uint8_t>::kImpossible) return use(std::uint8_t{});
    if (most <= CoreTable<std::int16_t>::kImpossible) return use(std::int16_t{});
    if (most <= CoreTable<std::int32_t>::kImpossible) return use(std::int32_t{});
    return use(std::int64_t{});
}

/// Power of busy cores beyond idle ones, in whole microwatts so that sums compare exactly.
class CorePower {
  public:
    CorePower() = default;
    CorePower(const Chain& chain, const ExactChain& exact, const CostModel& model);

    /// Power of a core of a pool; 0 where no power is known.
    std::uint64_t per_core(std::size_t pool) const { return pool < per_core_.size() ? per_core_[pool] : 0; }

    /// Power of the cores of a table's state.
    template <class Table>
    std::uint64_t of(const ExactChain& chain, const Table& table, std::size_t state) const {
        std::uint64_t power = 0;
        for (std::size_t pool = 0; pool < per_core_.size(); ++pool)
            power += per_core_[pool] * chain.pools[pool].cores(table.units(pool, state));
        return power;
    }

  private:
    std::vector<std::uint64_t> per_core_;  // [pool]
};

/// The state for which key(state) is least, of those that suffice, and the first of equals.
template <class Table, class Key>
std::size_t best_state(const Table& table, Key key) {
    std::size_t best = table.states() - 1;
    for (std::size_t state = table.states() - 1; state-- > 0;)
        if (table.possible(state) && key(state) <= key(best)) best = state;
    return best;
}

/// Schedules that may draw no more than so much.
struct PowerLimit {
    const CorePower& power;
    std::uint64_t most;
};

/// The least period, but at least `from`, at which there is a schedule (within the limit). What is returned
/// is the real period of one, which may be below `from`; nothing where there is none, because no kind of
/// cores runs all tasks, and there are too few for those that each task needs.
std::optional<Ratio> least_period(const ExactChain& chain, StageOptions& options, const Ratio& from,
                                  const PowerLimit* limit = nullptr);

}  // namespace tidemill::internal
