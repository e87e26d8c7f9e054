#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/static/exact/exact_chain.hpp"

namespace tidemill::internal {

/// Least cost of all work when time on each kind's cores has a price, and what a schedule can spend: by weak
/// duality no schedule within a period does the work for more than all cores are worth in that period,
/// whatever the prices; these are chosen so that little is left over.
class WorkBound {
  public:
    explicit WorkBound(const ExactChain& chain);

    /// Price of one core (or half a core) of a kind for one unit of time.
    std::uint64_t price(std::size_t kind) const { return prices_[kind]; }

    /// Price of all cores for one unit of time.
    std::uint64_t capacity() const { return capacity_; }

    /// Least price of all tasks.
    std::uint64_t all_work() const { return work_.back(); }

    /// Least price of tasks [begin, end), each where it is cheapest.
    std::uint64_t work(std::size_t begin, std::size_t end) const { return work_[end] - work_[begin]; }

    /// A period that no schedule can beat: all work spread without loss, and the heaviest task on its best
    /// kind.
    Ratio period() const { return period_; }

  private:
    std::vector<std::uint64_t> prices_;  // [kind]
    std::vector<std::uint64_t> work_;    // [j]: of the first j tasks
    std::uint64_t capacity_ = 0;
    Ratio period_;
};

}  // namespace tidemill::internal
