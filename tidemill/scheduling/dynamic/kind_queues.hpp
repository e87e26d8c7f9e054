#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill::policy {

/// A ready queue for each set of core kinds that tasks are confined to; most programs have one, for any kind,
/// and pay next to nothing for the others. A worker takes the task that goes first of all that its kind may
/// run, which takes one comparison per set, so sets should be few. Where task types are kept apart, each has
/// a queue of its own, and a worker can be given some of them only.
template <class Queue>
class KindQueues {
  public:
    explicit KindQueues(std::span<const KindId> kind_of_worker) {
        for (const KindId kind : kind_of_worker) kind_of_worker_.push_back(KindSet{1} << kind);
    }

    /// From the first task on.
    void part_types() { parted_ = true; }

    /// Where tasks of a task type queue that are for these kinds. Throws PolicyError when no worker is of
    /// such a kind.
    std::uint32_t place_of(KindSet kinds, TaskTypeId type) {
        if (!parted_) {
            if (kinds == kAnyKind) return 0;
            type = 0;
        }
        if (type >= last_place_.size()) last_place_.resize(type + 1, 0);
        std::uint32_t& last = last_place_[type];
        if (last == 0 || confined_[last - 1].kinds != kinds) last = find_place(kinds, type);
        return last;
    }

    Queue& operator[](std::uint32_t place) { return place == 0 ? any_ : confined_[place - 1].queue; }

    /// Takes the first task that the worker may run; kNoTask when there is none.
    TaskSlot pop(WorkerId worker) {
        Queue* first = any_.size() > 0 ? &any_ : nullptr;
        for (Confined& each : confined_) {
            if (each.queue.size() == 0 || (each.kinds & kind_of_worker_[worker]) == 0) continue;
            if (first == nullptr || each.queue.goes_before(*first)) first = &each.queue;
        }
        return first != nullptr ? first->pop() : kNoTask;
    }

    /// The same of the task types that it may have: a byte for each, 0 where not; none beyond those.
    TaskSlot pop(WorkerId worker, std::span<const std::uint8_t> may_have) {
        Queue* first = nullptr;
        for (Confined& each : confined_) {
            if (each.queue.size() == 0 || each.type >= may_have.size() || may_have[each.type] == 0 ||
                (each.kinds & kind_of_worker_[worker]) == 0)
                continue;
            if (first == nullptr || each.queue.goes_before(*first)) first = &each.queue;
        }
        return first != nullptr ? first->pop() : kNoTask;
    }

    std::size_t size() const {
        std::size_t tasks = any_.size();
        for (const Confined& each : confined_) tasks += each.queue.size();
        return tasks;
    }

    template <class Visit>
    void for_each(Visit visit) {
        visit(any_);
        for (Confined& each : confined_) visit(each.queue);
    }

  private:
    struct Confined {
        KindSet kinds;
        TaskTypeId type;  // 0 where task types share a queue
        Queue queue{};
    };

    std::uint32_t find_place(KindSet kinds, TaskTypeId type) {
        const auto known = std::ranges::find_if(
            confined_, [=](const Confined& each) { return each.kinds == kinds && each.type == type; });
        const auto place = static_cast<std::uint32_t>(known - confined_.begin() + 1);
        if (known == confined_.end()) add(kinds, type);
        return place;
    }

    void add(KindSet kinds, TaskTypeId type) {
        if (std::ranges::none_of(kind_of_worker_, [&](KindSet each) { return (each & kinds) != 0; }))
            throw PolicyError(
                "a task may run on kinds of cores only that no worker has; allow it others, or give it one");
        confined_.push_back({kinds, type});
    }

    bool parted_ = false;
    Queue any_;
    std::vector<Confined> confined_;
    std::vector<std::uint32_t> last_place_;  // per task type: where its last task went; 0: none did
    std::vector<KindSet> kind_of_worker_;
};

}  // namespace tidemill::policy
