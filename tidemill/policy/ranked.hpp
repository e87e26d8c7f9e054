#pragma once

#include "tidemill/policy/ready_heap.hpp"

namespace tidemill::policy {

/// The policy that issues the ready task of the least rank under one rule.
template <class R>
class Ranked final : public Policy {
  public:
    explicit Ranked(R rule = {}) : rule_(std::move(rule)) {}

    void create(const NewTask& task) override {
        number_.at(task.slot) = task.number;
        rule_.create(task);
        if constexpr (R::kRaises) raise();
    }

    void ready(TaskSlot task) override {
        rule_.ready(task);
        heap_.push(rule_.rank(task), number_[task], task);
    }

    TaskSlot issue(WorkerId worker) override {
        const TaskSlot task = heap_.pop();
        if (task != kNoTask) rule_.issue(task, worker);
        return task;
    }

    void follow(TaskSlot task, WorkerId worker) override { rule_.issue(task, worker); }
    void complete(TaskSlot task, WorkerId worker) override { rule_.complete(task, worker); }

    void tick(std::uint64_t now_ns) override {
        if (rule_.tick(now_ns)) heap_.rank_again([this](TaskSlot task) { return rule_.rank(task); });
    }

    bool wants_predecessors() const override { return rule_.wants_predecessors(); }
    void learn(KernelId from, KernelId to, double distance) override { rule_.learn(from, to, distance); }
    std::size_t ready_tasks() const override { return heap_.size(); }

    const R& rule() const { return rule_; }

  private:
    void raise() {
        for (const TaskSlot task : rule_.raised()) {
            if (heap_.holds(task)) heap_.raise(rule_.rank(task), task);
        }
    }

    R rule_;
    Table<std::uint64_t> number_;
    ReadyHeap<typename R::Rank, R::kRaises> heap_;
};

}  // namespace tidemill::policy
