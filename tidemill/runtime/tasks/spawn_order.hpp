#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/runtime/tasks/access.hpp"
#include "tidemill/runtime/tasks/region_table.hpp"
#include "tidemill/runtime/tasks/spawned_tasks.hpp"

namespace tidemill {

/// The order in which a program spawns: gives each task a slot and a number, and finds which of those before
/// it it must wait for, by the memory that they touch. Belongs to the program's thread.
class SpawnOrder {
  public:
    explicit SpawnOrder(std::size_t slots);

    /// Those that no task has; more are added when tasks are done.
    std::vector<policy::TaskSlot>& free_slots() { return free_; }
    policy::TaskSlot next_slot() const { return free_.back(); }

    /// The task that takes next_slot(), and what it waits for. Both stay until the next call.
    const Spawn& spawn(policy::TaskTypeId type, std::span<const Access> accesses, std::int32_t priority);
    const Waits& waits() const { return waits_; }

    void next_iteration() { ++next_.iteration; }
    std::uint64_t iteration() const { return next_.iteration; }

    /// All tasks are done.
    void forget_memory() { regions_.clear(); }

  private:
    std::vector<std::uint64_t> numbers_;  // per slot, of the task that has it
    std::vector<policy::TaskSlot> free_;
    RegionTable regions_;
    Spawn next_{};
    Waits waits_;
    std::uint64_t spawned_ = 0;
};

}  // namespace tidemill
