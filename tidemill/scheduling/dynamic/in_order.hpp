#pragma once

#include "tidemill/scheduling/dynamic/kind_queues.hpp"
#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Tasks in the order in which they come, or in the opposite one: a ring.
template <bool kLastFirst>
class Ring {
  public:
    std::size_t size() const { return end_ - begin_; }

    /// `order` grows from task to task.
    void push(std::uint64_t order, TaskSlot task) {
        if (size() == ring_.size()) grow();
        ring_[end_++ & (ring_.size() - 1)] = {order, task};
    }

    /// There must be one.
    TaskSlot pop() { return ring_[(kLastFirst ? --end_ : begin_++) & (ring_.size() - 1)].task; }

    /// Order of two queues that are not empty.
    bool goes_before(const Ring& other) const {
        return kLastFirst ? first().order > other.first().order : first().order < other.first().order;
    }

  private:
    struct Entry {
        std::uint64_t order;
        TaskSlot task;
    };

    const Entry& first() const { return ring_[(kLastFirst ? end_ - 1 : begin_) & (ring_.size() - 1)]; }

    void grow() {
        std::vector<Entry> larger(2 * ring_.size());
        for (std::size_t i = begin_; i != end_; ++i)
            larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
        ring_.swap(larger);
    }

    std::vector<Entry> ring_ = std::vector<Entry>(16);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// fifo or lifo alone: the order in which tasks become ready is all there is to know.
template <bool kLastFirst>
class InOrder final : public Policy {
  public:
    explicit InOrder(std::span<const KindId> kind_of_worker) : queues_(kind_of_worker) {}

    void create(const NewTask& task) override {
        place_.at(task.slot) = queues_.place_of(task.kinds, task.type);
    }
    void ready(TaskSlot task) override { queues_[place_[task]].push(readied_++, task); }
    TaskSlot issue(WorkerId worker) override { return queues_.pop(worker); }
    void part_types() override { queues_.part_types(); }
    TaskSlot issue(WorkerId worker, std::span<const std::uint8_t> may_have) override {
        return queues_.pop(worker, may_have);
    }
    void follow(TaskSlot, WorkerId) override {}
    void complete(TaskSlot, WorkerId) override {}
    void tick(std::uint64_t) override {}
    bool wants_predecessors() const override { return false; }
    void learn(TaskTypeId, TaskTypeId, double) override {}
    std::size_t ready_tasks() const override { return queues_.size(); }
    std::uint64_t rank_changes() const override { return 0; }

  private:
    Table<std::uint32_t> place_;  // of each task, among the queues
    KindQueues<Ring<kLastFirst>> queues_;
    std::uint64_t readied_ = 0;
};

}  // namespace tidemill::policy
