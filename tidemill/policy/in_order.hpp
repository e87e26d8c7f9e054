#pragma once

#include <vector>

#include "tidemill/policy/policy.hpp"

namespace tidemill::policy {

/// fifo or lifo alone: the order in which tasks become ready is all there is to know, so a ring is enough.
template <bool kLastFirst>
class InOrder final : public Policy {
  public:
    void create(const NewTask&) override {}

    void ready(TaskSlot task) override {
        if (end_ - begin_ == ring_.size()) grow();
        ring_[end_++ & (ring_.size() - 1)] = task;
    }

    TaskSlot issue(WorkerId) override {
        if (begin_ == end_) return kNoTask;
        return ring_[(kLastFirst ? --end_ : begin_++) & (ring_.size() - 1)];
    }

    void follow(TaskSlot, WorkerId) override {}
    void complete(TaskSlot, WorkerId) override {}
    void tick(std::uint64_t) override {}
    bool wants_predecessors() const override { return false; }
    void learn(KernelId, KernelId, double) override {}
    std::size_t ready_tasks() const override { return end_ - begin_; }

  private:
    void grow() {
        std::vector<TaskSlot> larger(2 * ring_.size());
        for (std::size_t i = begin_; i != end_; ++i)
            larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
        ring_.swap(larger);
    }

    std::vector<TaskSlot> ring_ = std::vector<TaskSlot>(16);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace tidemill::policy
