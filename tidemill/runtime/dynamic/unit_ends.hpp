#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic_units.hpp"
#include "tidemill/runtime/dynamic/task_run.hpp"

namespace tidemill {

/// For each unit the first frame that it is not to run, as far as known: for tasks that wait while others end
/// the stream. Lowered by one thread at a time, read by all.
class UnitEnds {
  public:
    explicit UnitEnds(const std::vector<DynamicUnit>& units) : ends_(units.size()) {
        for (std::size_t unit = 0; unit < units.size(); ++unit) {
            segments_.push_back(units[unit].segment);
            ends_[unit].store(kEndless, std::memory_order_relaxed);
        }
    }

    void lower(const StreamEnd& where) {
        for (std::uint32_t unit = 0; unit < segments_.size(); ++unit) {
            const std::uint64_t end = where.limit_in(segments_[unit]).of(unit);
            if (end < of(unit).load(std::memory_order_relaxed))
                ends_[unit].store(end, std::memory_order_relaxed);
        }
    }

    const std::atomic<std::uint64_t>& of(std::uint32_t unit) const { return ends_[unit]; }

  private:
    std::vector<std::uint32_t> segments_{};
    std::vector<std::atomic<std::uint64_t>> ends_;
};

}  // namespace tidemill
