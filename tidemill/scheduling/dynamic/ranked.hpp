#pragma once

#include "tidemill/scheduling/dynamic/kind_queues.hpp"
#include "tidemill/scheduling/dynamic/ready_heap.hpp"

namespace tidemill::policy {

/// The policy that issues the ready task of the least rank under one rule.
template <class R>
class Ranked final : public Policy {
  public:
    explicit Ranked(std::span<const KindId> kind_of_worker, R rule = {})
        : rule_(std::move(rule)), queues_(kind_of_worker) {}

    void create(const NewTask& task) override {
        tasks_.at(task.slot) = {task.number, queues_.place_of(task.kinds, task.type)};
        rule_.create(task);
        if constexpr (R::kRaises) raise();
    }

    void ready(TaskSlot task) override {
        rule_.ready(task);
        const Task& created = tasks_[task];
        queues_[created.place].push(rule_.rank(task), created.number, task);
    }

    TaskSlot issue(WorkerId worker) override { return issued(queues_.pop(worker), worker); }
    void part_types() override { queues_.part_types(); }
    TaskSlot issue(WorkerId worker, std::span<const std::uint8_t> may_have) override {
        return issued(queues_.pop(worker, may_have), worker);
    }

    void follow(TaskSlot task, WorkerId worker) override { rule_.issue(task, worker); }
    void complete(TaskSlot task, WorkerId worker) override { rule_.complete(task, worker); }

    void tick(std::uint64_t now_ns) override {
        if (!rule_.tick(now_ns)) return;
        queues_.for_each(
            [this](auto& queue) { queue.rank_again([this](TaskSlot task) { return rule_.rank(task); }); });
    }

    bool wants_predecessors() const override { return rule_.wants_predecessors(); }
    void learn(TaskTypeId from, TaskTypeId to, double distance) override { rule_.learn(from, to, distance); }
    std::size_t ready_tasks() const override { return queues_.size(); }
    std::uint64_t rank_changes() const override { return rank_changes_; }

    const R& rule() const { return rule_; }

  private:
    struct Task {
        std::uint64_t number;
        std::uint32_t place;  // among the queues
    };

    TaskSlot issued(TaskSlot task, WorkerId worker) {
        if (task != kNoTask) rule_.issue(task, worker);
        return task;
    }

    void raise() {
        const std::span<const TaskSlot> raised = rule_.raised();
        rank_changes_ += raised.size();
        for (const TaskSlot task : raised) {
            auto& queue = queues_[tasks_[task].place];
            if (queue.holds(task)) queue.raise(rule_.rank(task), task);
        }
    }

    R rule_;
    Table<Task> tasks_;
    KindQueues<ReadyHeap<typename R::Rank, R::kRaises>> queues_;
    std::uint64_t rank_changes_ = 0;
};

}  // namespace tidemill::policy
