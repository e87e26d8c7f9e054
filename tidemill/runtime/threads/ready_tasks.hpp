#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tidemill/runtime/threads/ready_work.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/unequal/placement.hpp"

namespace tidemill {

/// The tasks that wait for nothing: a policy chooses among them, and a worker gets as many at once as make up
/// for its turn.
class ReadyTasks {
  public:
    /// `bundle_ticks` is the work to hand out at once, at most; 0: single tasks. Where there is a placement,
    /// which must outlive this, workers get what it says; else they may have any task.
    ReadyTasks(std::unique_ptr<policy::Policy> policy, std::vector<policy::KindId> kind_of_worker,
               std::uint64_t bundle_ticks, bridge::Placement* placement = nullptr)
        : policy_(std::move(policy)),
          wants_predecessors_(policy_->wants_predecessors()),
          kind_of_worker_(std::move(kind_of_worker)),
          bundle_ticks_(bundle_ticks),
          placement_(placement) {
        if (placement_) policy_->part_types();
    }

    /// Tasks have slots below this.
    void resize(std::size_t slots) {
        tasks_.resize(slots);
        waiting_.reserve(slots);
    }

    policy::Policy& policy() { return *policy_; }
    const ReadyWork& work() const { return work_; }
    /// Kind of each worker's core.
    const std::vector<policy::KindId>& kinds() const { return kind_of_worker_; }
    bool wants_predecessors() const { return wants_predecessors_; }

    /// Where tasks for these kinds of cores are counted.
    std::uint32_t group_of(policy::KindSet kinds) { return work_.group_of(kinds); }

    /// A task has become ready, and counts as so much work.
    void add(policy::TaskSlot slot, policy::TaskTypeId type, std::uint32_t group, std::uint64_t ticks) {
        tasks_[slot] = {ticks, group, type};
        work_.add(group, ticks);
        policy_->ready(slot);
        if (placement_) placement_->ready(type);
    }
    /// The same of a task that may wait for what is outside: it is handed out alone when there is no other,
    /// of several the one of the earliest iteration, so that nothing that was begun is held up by what
    /// follows.
    void add_waiting(policy::TaskSlot slot, policy::KindSet kinds, std::uint32_t group,
                     std::uint64_t iteration) {
        tasks_[slot] = {bundle_ticks_, group, 0};
        work_.add(group, bundle_ticks_);
        waiting_.insert(std::ranges::upper_bound(waiting_, iteration, {}, &Waiting::iteration),
                        {slot, kinds, iteration});
    }
    /// Whether there is such a task for this worker.
    bool has_waiting(policy::WorkerId worker) const {
        return std::ranges::any_of(waiting_,
                                   [&](const Waiting& each) { return each.is_for(kind_of_worker_[worker]); });
    }
    /// The worker that takes this ready task may go on with another one behind it.
    void add_behind(policy::TaskSlot slot, std::uint64_t ticks) {
        tasks_[slot].ticks += ticks;
        work_.add_behind(tasks_[slot].group, ticks);
    }

    /// Calls `hand_out(slot, ticks_left)`, with what that may take, for as many tasks, by the policy, as make
    /// up for asking, but no more than a fair share when `idle_peers` others want some too. A task of which
    /// nothing is known is to count as a bundle.
    template <class HandOut>
    void take(policy::WorkerId worker, std::size_t idle_peers, HandOut hand_out) {
        const ReadyWork::Amount ready = work_.of(kind_of_worker_[worker]);
        // Alone it takes a bundle: what the ready tasks counted for may be less than is known of them by now.
        const std::uint64_t most_ticks =
            idle_peers == 0 ? bundle_ticks_ : std::min(bundle_ticks_, ready.ticks / (idle_peers + 1));
        std::size_t share = std::min(kMostTasks, (ready.tasks + idle_peers) / (idle_peers + 1));
        std::uint64_t ticks = 0;
        for (bool first = true; share > 0; --share, first = false) {
            const policy::TaskSlot slot = issue(worker);
            if (slot == policy::kNoTask && first) return take_waiting(worker, hand_out);
            if (slot == policy::kNoTask) return;
            work_.remove(tasks_[slot].group, tasks_[slot].ticks);
            const std::uint64_t taken = hand_out(slot, most_ticks - ticks);
            if (placement_) placement_->issued(worker, tasks_[slot].type, taken);
            ticks += taken;
            if (ticks >= most_ticks) return;
        }
    }

    /// A task that was handed out has ended. Of several at once, the policy took the worker for idle after
    /// the first.
    void complete(policy::TaskSlot slot, policy::WorkerId worker) {
        policy_->follow(slot, worker);
        policy_->complete(slot, worker);
    }

  private:
    static constexpr std::size_t kMostTasks = 64;

    struct Ready {
        std::uint64_t ticks = 0;  // what it counts for, with those behind it
        std::uint32_t group = 0;
        policy::TaskTypeId type = 0;
    };

    struct Waiting {
        policy::TaskSlot slot;
        policy::KindSet kinds;
        std::uint64_t iteration;

        bool is_for(policy::KindId kind) const { return (kinds >> kind & 1) != 0; }
    };

    template <class HandOut>
    void take_waiting(policy::WorkerId worker, HandOut hand_out) {
        const auto taken = std::ranges::find_if(
            waiting_, [&](const Waiting& each) { return each.is_for(kind_of_worker_[worker]); });
        if (taken == waiting_.end()) return;
        const policy::TaskSlot slot = taken->slot;
        waiting_.erase(taken);
        work_.remove(tasks_[slot].group, tasks_[slot].ticks);
        policy_->follow(slot, worker);
        hand_out(slot, 0);
    }

    policy::TaskSlot issue(policy::WorkerId worker) {
        return placement_ ? policy_->issue(worker, placement_->may_have(worker)) : policy_->issue(worker);
    }

    std::unique_ptr<policy::Policy> policy_;
    bool wants_predecessors_;
    std::vector<policy::KindId> kind_of_worker_;
    std::uint64_t bundle_ticks_;
    bridge::Placement* placement_;
    ReadyWork work_;
    std::vector<Ready> tasks_;      // per slot
    std::vector<Waiting> waiting_;  // by iteration
};

}  // namespace tidemill
