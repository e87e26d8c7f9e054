#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/pool/spin_lock.hpp"
#include "tidemill/tasks/spawned_tasks.hpp"

namespace tidemill {

/// What a program has spawned and not handed over yet: a turn for each task would cost more than it does.
/// Handed over by the program's thread, or, where that is busy elsewhere, by a worker that has long been
/// idle.
class GatheredSpawns {
  public:
    explicit GatheredSpawns(std::uint64_t bundle_ticks) : bundle_ticks_(bundle_ticks) {}

    /// Whether it is time to hand over: there are many, or somebody is idle.
    bool add(const Spawn& spawn, const std::vector<TaskRef>& predecessors, bool anyone_idle) {
        constexpr std::size_t kMany = 64;
        const std::lock_guard lock(gathering_);
        spawns_.push_back(spawn);
        predecessors_.insert(predecessors_.end(), predecessors.begin(), predecessors.end());
        return spawns_.size() == kMany || (anyone_idle && ticks() - handed_over_at_ > bundle_ticks_);
    }

    /// Calls `hand_over(spawns, predecessors)`, one thread at a time, since tasks go in their order.
    template <class HandOver>
    void take(HandOver hand_over) {
        const std::lock_guard lock(gathering_);
        hand_over(spawns_, predecessors_);
        spawns_.clear();
        predecessors_.clear();
        handed_over_at_ = ticks();
    }

  private:
    std::uint64_t bundle_ticks_;
    alignas(64) SpinLock gathering_;  // guards what follows
    std::vector<Spawn> spawns_;
    std::vector<TaskRef> predecessors_;
    std::uint64_t handed_over_at_ = 0;
};

}  // namespace tidemill
