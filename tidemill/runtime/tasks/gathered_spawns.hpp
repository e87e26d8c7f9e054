#pragma once

#include <cstdint>
#include <mutex>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/tasks/spawned_tasks.hpp"
#include "tidemill/runtime/threads/spin_lock.hpp"

namespace tidemill {

/// Tasks that a program has spawned and not handed over yet: a turn for each task would cost more than it
/// does. Handed over by the program's thread, or, where that is busy elsewhere, by a worker that has long
/// been idle.
class GatheredSpawns {
  public:
    explicit GatheredSpawns(std::uint64_t bundle_ticks) : bundle_ticks_(bundle_ticks) {}

    /// Whether it is time to hand over: there are many, or somebody is idle.
    bool add(const Spawn& spawn, const Waits& waits, bool anyone_idle) {
        constexpr std::size_t kMany = 64;
        const std::lock_guard lock(gathering_);
        spawns_.add(spawn, waits);
        return spawns_.tasks.size() == kMany || (anyone_idle && ticks() - handed_over_at_ > bundle_ticks_);
    }

    /// Calls `hand_over(spawns)`, one thread at a time, since tasks go in their order.
    template <class HandOver>
    void take(HandOver hand_over) {
        const std::lock_guard lock(gathering_);
        hand_over(spawns_);
        spawns_.clear();
        handed_over_at_ = ticks();
    }

  private:
    std::uint64_t bundle_ticks_;
    alignas(64) SpinLock gathering_;  // guards what follows
    Spawns spawns_;
    std::uint64_t handed_over_at_ = 0;
};

}  // namespace tidemill
