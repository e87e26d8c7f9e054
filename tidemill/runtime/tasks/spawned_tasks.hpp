#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tidemill/runtime/tasks/region_table.hpp"
#include "tidemill/runtime/threads/ready_tasks.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/unequal/task_times.hpp"

namespace tidemill {

/// A task that was spawned, on its way into the graph of those in flight. What it must wait for stands in
/// lists beside.
struct Spawn {
    TaskRef task;
    policy::TaskTypeId type;
    std::uint64_t iteration;
    std::int32_t priority;
    std::uint32_t predecessors;  ///< how many of them
    std::uint32_t exclusions;
};

/// Some of them, in the program's order.
struct Spawns {
    std::vector<Spawn> tasks{};
    Waits waits{};  ///< those of all of them in a row

    void add(const Spawn& spawn, const Waits& its) {
        tasks.push_back(spawn);
        append(waits.predecessors, its.predecessors);
        append(waits.exclusions, its.exclusions);
    }
    void clear() {
        tasks.clear();
        waits.clear();
    }

  private:
    template <class T>
    static void append(std::vector<T>& to, const std::vector<T>& more) {
        to.insert(to.end(), more.begin(), more.end());
    }
};

/// The tasks between spawn and completion, what each waits for, and those that are ready. Knows no threads:
/// callers take turns.
class SpawnedTasks {
  public:
    /// `slots` is the most tasks there can be at once. Where there is a placement, it is the one that `ready`
    /// asks.
    SpawnedTasks(ReadyTasks ready, std::size_t slots, std::uint64_t bundle_ticks,
                 bridge::Placement* placement = nullptr);

    /// Tasks of this task type run on cores of these kinds only.
    void confine(policy::TaskTypeId type, policy::KindSet kinds);

    void add(const Spawns& spawns);
    /// Hands out ready tasks, several where they are short, and no more than a fair share when `idle_peers`
    /// others want some too. Returns how long they may take there.
    std::uint64_t take(policy::WorkerId worker, std::size_t idle_peers, std::vector<policy::TaskSlot>& tasks);
    /// `ticks` is what the task took.
    void complete(policy::WorkerId worker, policy::TaskSlot task, std::uint64_t ticks);
    void tick(std::uint64_t now_ns) { ready_.policy().tick(now_ns); }

    // Number of a task in flight, also for the worker that runs it, between turns.
    std::uint64_t number_of(policy::TaskSlot task) const { return tasks_[task].number; }
    policy::TaskTypeId type_of(policy::TaskSlot task) const { return tasks_[task].type; }
    std::uint64_t iteration_of(policy::TaskSlot task) const { return tasks_[task].iteration; }

    std::size_t in_flight() const { return in_flight_; }
    /// A task of a task type that never ran counts as a bundle.
    const ReadyWork& ready() const { return ready_.work(); }
    /// Time that all tasks in flight may take.
    std::uint64_t work_ticks() const { return work_ticks_; }

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct TypeState {
        policy::KindSet kinds = policy::kAnyKind;
        std::uint32_t ready_group = 0;
    };
    struct TaskState {
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t iteration = 0;
        std::uint64_t expected_ticks = 0;
        policy::TaskTypeId type = 0;
        std::uint32_t waits_for = 0;
        std::uint32_t first_edge = kNone;  // to those that wait for it
        bool in_flight = false;
    };
    struct Edge {
        policy::TaskSlot to;
        std::uint32_t next;
    };

    void know(policy::TaskTypeId type);
    void wait_for(policy::TaskSlot slot, const TaskRef& before);
    void add_edge(TaskState& from, policy::TaskSlot to);
    void waits_for_none(policy::TaskSlot task);
    void make_ready(policy::TaskSlot task);
    void release_successors(TaskState& task);

    ReadyTasks ready_;
    std::uint64_t bundle_ticks_;
    bridge::Placement* placement_;
    std::vector<TaskState> tasks_;  // per slot
    std::vector<TypeState> types_;  // those that have come by
    policy::ExclusiveTasks exclusive_;
    bridge::TaskTimes times_;
    std::vector<Edge> edges_;
    std::uint32_t free_edge_ = kNone;
    std::vector<policy::TaskSlot> told_;  // predecessors, for the policy
    std::size_t in_flight_ = 0;
    std::uint64_t work_ticks_ = 0;
};

}  // namespace tidemill
