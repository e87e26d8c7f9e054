#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tidemill/policy/policy.hpp"
#include "tidemill/policy/policy_error.hpp"

namespace tidemill::policy {

/// A ready queue for each set of core kinds that tasks are confined to; most programs have one, for any kind.
/// A worker takes the task that goes first of all that its kind may run. The choice takes one comparison per
/// set, so sets should be few.
template <class Queue>
class KindQueues {
  public:
    explicit KindQueues(std::span<const KindId> kind_of_worker) {
        for (const KindId kind : kind_of_worker) kind_of_worker_.push_back(KindSet{1} << kind);
    }

    /// Where tasks for these kinds queue. Throws PolicyError when no worker is of such a kind.
    std::uint32_t place_of(KindSet kinds) {
        for (std::uint32_t place = 0; place < lanes_.size(); ++place) {
            if (lanes_[place].kinds == kinds) return place;
        }
        if (std::ranges::none_of(kind_of_worker_, [&](KindSet each) { return (each & kinds) != 0; }))
            throw PolicyError(
                "a task may run on kinds of cores only that no worker has; allow it others, or give it one");
        lanes_.push_back({kinds, {}});
        return static_cast<std::uint32_t>(lanes_.size() - 1);
    }

    Queue& operator[](std::uint32_t place) { return lanes_[place].queue; }

    /// Takes the first task that the worker may run; kNoTask when there is none.
    TaskSlot pop(WorkerId worker) {
        Queue* first = nullptr;
        for (Lane& lane : lanes_) {
            if (lane.queue.size() == 0 || (lane.kinds & kind_of_worker_[worker]) == 0) continue;
            if (first == nullptr || lane.queue.goes_before(*first)) first = &lane.queue;
        }
        return first != nullptr ? first->pop() : kNoTask;
    }

    std::size_t size() const {
        std::size_t tasks = 0;
        for (const Lane& lane : lanes_) tasks += lane.queue.size();
        return tasks;
    }

    auto begin() { return lanes_.begin(); }
    auto end() { return lanes_.end(); }

  private:
    struct Lane {
        KindSet kinds;
        Queue queue;
    };

    std::vector<KindSet> kind_of_worker_;
    std::vector<Lane> lanes_;
};

}  // namespace tidemill::policy
