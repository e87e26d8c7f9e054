#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/runtime/tasks/spawned_tasks.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"
#include "tidemill/scheduling/dynamic/throttle.hpp"
#include "tidemill/scheduling/unequal/placement.hpp"

namespace tidemill {

/// A task threw.
struct TaskFailure {
    std::uint64_t number;
    policy::TaskTypeId type;
    std::exception_ptr cause;  ///< null: it ended its thread
};

/// Result of some tasks.
struct TasksDone {
    std::uint64_t ran = 0;
    std::uint64_t dropped = 0;
    std::uint64_t work_ticks = 0;  ///< that those which ran took

    TasksDone& operator+=(const TasksDone& more) {
        ran += more.ran;
        dropped += more.dropped;
        work_ticks += more.work_ticks;
        return *this;
    }
};

/// Tasks that a worker holds between its turns at the board.
struct HeldTasks {
    std::vector<policy::TaskSlot> tasks;
    std::uint64_t expected_ticks = 0;      ///< of all of them, on the worker's kind of core
    std::vector<std::uint64_t> ticks;      ///< filled in by the worker: what each took
    std::optional<TaskFailure> failure{};  ///< of those that failed, the one that was spawned first
    TasksDone done{};
    std::uint64_t ended_tick = 0;  ///< when the last of them was done
    bool soon_back = false;        ///< they take less than a bundle

    bool empty() const { return tasks.empty(); }
    void fail(std::uint64_t number, policy::TaskTypeId type, std::exception_ptr cause) {
        if (!failure || number < failure->number) failure = {number, type, std::move(cause)};
    }
};

/// The board that the program's thread and its workers share: spawned tasks, slots that have come free, and
/// what the program waits for. Knows no threads: callers take turns.
class SpawnBoard {
  public:
    using Hand = HeldTasks;
    using WorkerId = policy::WorkerId;

    /// The program's thread is the worker of that number where it `helps`, and else no worker.
    struct Program {
        WorkerId worker;
        bool helps;
    };
    /// Condition that the program may wait for.
    enum class Goal : std::uint8_t { room, iteration, all_done };

    /// The options name a kind for each worker.
    SpawnBoard(const TasksOptions& options, std::uint64_t bundle_ticks, Program program);

    void add(const Spawns& spawns);
    void confine(policy::TaskTypeId type, policy::KindSet kinds);
    void note_not_pinned(std::string why) { not_pinned_ = std::move(why); }

    // As WorkerPool wants it.
    void settle(WorkerId worker, HeldTasks& held);
    bool may_take(WorkerId worker) {
        if (placement_ && !placement_->may_take(worker)) return false;
        return confined_ || (!left_to_others() && (worker == program_.worker || !left_to_program()));
    }
    void take(WorkerId worker, std::size_t idle_peers, HeldTasks& held);
    const ReadyWork& ready() const { return tasks_.ready(); }
    static std::uint64_t expected_ticks(const HeldTasks& held) { return held.expected_ticks; }
    std::optional<WorkerId> released();
    long patience_ns(WorkerId worker) const;

    /// Whether the program may go on; otherwise it waits. `iteration` is the one that it begins.
    bool reaches(Goal goal, std::uint64_t iteration);
    /// Slots whose tasks are done; forgets them.
    void move_freed_to(std::vector<policy::TaskSlot>& free);
    /// Results of the tasks since the last call.
    TasksReport take_report();
    std::optional<TaskFailure> take_failure() { return std::exchange(failure_, std::nullopt); }

    const SpawnedTasks& tasks() const { return tasks_; }
    std::size_t most_in_flight() const { return most_in_flight_; }

  private:
    bool is_reached(Goal goal) const;
    bool left_to_others() const;
    bool left_to_program() const;

    std::unique_ptr<bridge::Placement> placement_;  // none where workers may have anything
    SpawnedTasks tasks_;
    std::uint64_t bundle_ticks_;
    Program program_;
    std::size_t slots_;
    std::uint64_t most_iterations_;
    std::optional<policy::Throttle> throttle_;  // of iterations, where they are limited
    std::uint64_t iteration_ = 0;               // that the program begins
    std::optional<Goal> awaited_;               // by the program
    bool confined_ = false;                     // some tasks cannot be left to any worker
    bool program_is_busy_ = false;              // with more than a bundle
    std::size_t soon_back_ = 0;                 // workers
    std::vector<policy::TaskSlot> freed_;
    std::size_t most_in_flight_ = 0;
    TasksDone done_;  // since the last report
    std::string not_pinned_;
    std::optional<TaskFailure> failure_;
};

}  // namespace tidemill
