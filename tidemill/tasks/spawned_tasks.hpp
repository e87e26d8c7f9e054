#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/policy/policy.hpp"
#include "tidemill/run/dynamic/mean_ticks.hpp"
#include "tidemill/tasks/region_table.hpp"

namespace tidemill {

/// A task that was spawned, on its way into the graph of those in flight. Its predecessors stand in a list
/// beside.
struct Spawn {
    TaskRef task;
    policy::KernelId kernel;
    std::uint64_t iteration;
    std::int32_t priority;
    std::uint32_t predecessors;  ///< how many of them
};

/// The tasks between spawn and completion, what each waits for, and a policy that chooses among those that
/// wait for nothing. Knows no threads: callers take turns.
class SpawnedTasks {
  public:
    /// `slots` is the most tasks there can be at once.
    SpawnedTasks(std::unique_ptr<policy::Policy> policy, std::size_t slots, std::uint64_t bundle_ticks);

    /// Takes in spawned tasks, in the program's order; `predecessors` are those of all of them in a row.
    void add(const std::vector<Spawn>& spawns, const std::vector<TaskRef>& predecessors);
    /// Hands out ready tasks, several where they are short, and no more than a fair share when `hungry`
    /// others want some too.
    void take(policy::WorkerId worker, std::size_t hungry, std::vector<policy::TaskSlot>& tasks);
    /// `ticks` is what the task took.
    void complete(policy::WorkerId worker, policy::TaskSlot task, std::uint64_t ticks);
    void tick(std::uint64_t now_ns) { policy_->tick(now_ns); }

    std::uint64_t number_of(policy::TaskSlot task) const { return tasks_[task].number; }
    policy::KernelId kernel_of(policy::TaskSlot task) const { return tasks_[task].kernel; }
    std::uint64_t iteration_of(policy::TaskSlot task) const { return tasks_[task].iteration; }
    std::size_t in_flight() const { return in_flight_; }
    std::size_t ready_tasks() const { return ready_; }
    /// What the ready tasks and these may take together; a kernel that never ran counts as a bundle.
    std::uint64_t ready_ticks() const { return ready_ticks_; }
    /// What all tasks in flight may take.
    std::uint64_t work_ticks() const { return work_ticks_; }
    std::uint64_t expected_ticks(const std::vector<policy::TaskSlot>& tasks) const;

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t kMostTasks = 64;

    struct TaskState {
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t iteration = 0;
        std::uint64_t expected_ticks = 0;
        policy::KernelId kernel = 0;
        std::uint32_t waits_for = 0;
        std::uint32_t first_edge = kNone;  // to those that wait for it
        bool in_flight = false;
    };
    struct Edge {
        policy::TaskSlot to;
        std::uint32_t next;
    };

    std::uint64_t ticks_of(policy::KernelId kernel) const;
    void add_edge(TaskState& from, policy::TaskSlot to);
    void make_ready(policy::TaskSlot task);

    std::unique_ptr<policy::Policy> policy_;
    std::uint64_t bundle_ticks_;
    std::vector<TaskState> tasks_;  // per slot
    std::vector<MeanTicks> kernel_ticks_;
    std::vector<Edge> edges_;
    std::uint32_t free_edge_ = kNone;
    std::vector<policy::TaskSlot> told_;  // predecessors, for the policy
    std::size_t in_flight_ = 0;
    std::size_t ready_ = 0;
    std::uint64_t ready_ticks_ = 0;
    std::uint64_t work_ticks_ = 0;
};

}  // namespace tidemill
