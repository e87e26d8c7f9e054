#pragma once

#include <utility>

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Ready tasks by rank, the older first among equals: a binary heap. With `kTracked`, it knows where each
/// task is, so that a rank may fall while the task waits.
template <class Rank, bool kTracked>
class ReadyHeap {
  public:
    std::size_t size() const { return heap_.size(); }

    void push(const Rank& rank, std::uint64_t number, TaskSlot task) {
        heap_.emplace_back();
        rise(heap_.size() - 1, {rank, number, task});
    }

    /// The task of the least rank; there must be one.
    TaskSlot pop() {
        const TaskSlot first = heap_.front().task;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(0, last);
        if constexpr (kTracked) place_[first] = 0;
        return first;
    }

    /// Order of two heaps that are not empty.
    bool goes_before(const ReadyHeap& other) const { return heap_.front() < other.heap_.front(); }

    bool holds(TaskSlot task) const requires kTracked { return task < place_.size() && place_[task] != 0; }

    /// Gives a task that waits a rank that is not greater.
    void raise(const Rank& rank, TaskSlot task) requires kTracked {
        const std::size_t at = place_[task] - 1;
        Entry entry = heap_[at];
        entry.rank = rank;
        rise(at, entry);
    }

    /// Asks all ranks anew.
    template <class RankOf>
    void rank_again(RankOf rank_of) {
        for (Entry& entry : heap_) entry.rank = rank_of(entry.task);
        for (std::size_t i = heap_.size(); i-- > 0;) sink(i, Entry{heap_[i]});
    }

  private:
    struct Entry {
        Rank rank{};
        std::uint64_t number = 0;
        TaskSlot task = kNoTask;

        bool operator<(const Entry& other) const {
            return rank != other.rank ? rank < other.rank : number < other.number;
        }
    };

    void put(std::size_t at, const Entry& entry) {
        heap_[at] = entry;
        if constexpr (kTracked) place_.at(entry.task) = at + 1;
    }

    void rise(std::size_t at, const Entry& entry) {
        while (at > 0 && entry < heap_[(at - 1) / 2]) {
            put(at, heap_[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        put(at, entry);
    }

    void sink(std::size_t at, const Entry& entry) {
        for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (!(heap_[child] < entry)) break;
            put(at, heap_[child]);
            at = child;
        }
        put(at, entry);
    }

    std::vector<Entry> heap_;
    Table<std::size_t> place_;  // of each task in the heap, from 1 on; 0 when it is not there
};

}  // namespace tidemill::policy
