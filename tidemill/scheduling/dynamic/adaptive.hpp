#pragma once

#include <algorithm>

#include "tidemill/scheduling/dynamic/busyness.hpp"
#include "tidemill/scheduling/dynamic/type_edges.hpp"

namespace tidemill::policy {

/// Common part of both adaptive policies: oldest first, but tasks of a task type count as `adjustment` tasks
/// older than they are. Watches which task type ends with few threads busy and, once per interval, has the
/// policy raise it.
///
/// `Raise` has `void raise(TaskTypeId bottleneck)`, which changes adjustments, and hides create() where it
/// counts more.
template <class Raise>
class Adaptive : public Rule {
  public:
    Adaptive(unsigned workers, const Adapting& adapting) : adapting_(adapting), threads_(workers) {}

    void create(const NewTask& task) {
        learn_edges(task);
        Type& type = types_.at(task.type);
        tasks_.at(task.slot) = {static_cast<Rank>(task.number), task.type, type.created++};
        if (task.type >= busyness_.size()) busyness_.resize(task.type + 1);
    }

    void learn(TaskTypeId from, TaskTypeId to, double distance) { edges_.saw(from, to, distance); }

    void issue(TaskSlot, WorkerId worker) { threads_.begin(worker); }

    void complete(TaskSlot slot, WorkerId worker) {
        const Task& task = tasks_[slot];
        TypeBusyness& busyness = busyness_[task.type];
        const bool next_is_missing = types_[task.type].created == task.nth + 1;
        if (next_is_missing && threads_.any_idle()) {
            ++busyness.starved;
        } else {
            ++busyness.not_starved;
            busyness.busy_threads += threads_.busy();
        }
        threads_.end(worker);
    }

    bool tick(std::uint64_t now_ns) {
        if (next_look_ns_ == 0) next_look_ns_ = now_ns + adapting_.interval_ns;
        return now_ns >= next_look_ns_ && look(now_ns);
    }

    Rank rank(TaskSlot slot) const {
        const Task& task = tasks_[slot];
        return task.number - types_[task.type].adjustment;
    }

    Rank adjustment(TaskTypeId type) const { return types_[type].adjustment; }
    std::span<const TypeBusyness> busyness() const { return busyness_; }
    std::uint64_t tasks_of(TaskTypeId type) const { return types_[type].created; }
    const TypeEdges& edges() const { return edges_; }

  protected:
    struct Type {
        Rank adjustment = 0;
        std::uint32_t created = 0;
    };

    /// Raises the task types that `type` waits for, directly or not, to what `least(edge, adjustment of the
    /// one after)` says: a task must not be held up by one that it makes urgent and that is not.
    template <class Least>
    void raise_ancestors(TaskTypeId type, Least least) {
        std::vector<TaskTypeId> raised{type};
        while (!raised.empty()) {
            const TaskTypeId after = raised.back();
            raised.pop_back();
            for (const TypeEdges::Edge& edge : edges_.before(after)) {
                const Rank wanted = least(edge, types_[after].adjustment);
                if (types_[edge.from].adjustment >= wanted) continue;
                types_[edge.from].adjustment = wanted;
                raised.push_back(edge.from);
            }
        }
    }

    /// Statistics begin anew. All of them: with some left as they were, what was cured is soon blamed on
    /// another task type (Fig. 4.11).
    void forget(std::optional<TaskTypeId> /*bottleneck*/) { std::ranges::fill(busyness_, TypeBusyness{}); }

    Adapting adapting_;
    Table<Type> types_;
    std::vector<TypeBusyness> busyness_;

  private:
    struct Task {
        Rank number;
        TaskTypeId type;
        std::uint32_t nth;  // of its task type
    };

    // Before the task is noted, since it may take the slot of one that it consumes.
    void learn_edges(const NewTask& task) {
        for (const TaskSlot slot : task.predecessors) {
            const Task& before = tasks_[slot];
            edges_.saw(before.type, task.type,
                       static_cast<double>(static_cast<Rank>(task.number) - before.number));
        }
    }

    bool look(std::uint64_t now_ns) {
        const Verdict verdict = judge(busyness_);
        next_look_ns_ =
            now_ns + (verdict.master_too_slow ? adapting_.starved_interval_ns : adapting_.interval_ns);
        if (verdict.bottleneck) static_cast<Raise&>(*this).raise(*verdict.bottleneck);
        static_cast<Raise&>(*this).forget(verdict.bottleneck);
        return verdict.bottleneck.has_value();
    }

    Table<Task> tasks_;
    TypeEdges edges_;
    BusyThreads threads_;
    std::uint64_t next_look_ns_ = 0;
};

}  // namespace tidemill::policy
