#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/pu_set.hpp"
#include "tidemill/runtime/tasks/access.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// A task threw: where it was spawned, which of all it was, and what it said.
class TaskError : public TasksError {
  public:
    TaskError(const std::string& type, std::uint64_t number, std::exception_ptr cause);

    const std::string& type() const { return type_; }  ///< its name, or "file.cpp:12"
    std::uint64_t number() const { return number_; }   ///< in the order of spawning, from 0 on
    const std::exception_ptr& cause() const { return cause_; }

  private:
    std::string type_;
    std::uint64_t number_;
    std::exception_ptr cause_;
};

/// Type of which tasks are instances, where a program names it; see Tasks::type().
struct TaskType {
    policy::TaskTypeId id;
};

/// A task that has just ended; times in ticks.
struct ObservedTask {
    policy::TaskTypeId type;  ///< in the order in which the program named them, or first came by
    std::uint64_t number;     ///< in the order of spawning, from 0 on
    std::uint64_t iteration;
    std::size_t worker;
    std::uint64_t start;
    std::uint64_t end;
};

namespace internal {

/// A function to be called once, kept in place where it is small. Stays where it was put.
class TaskBody {
  public:
    TaskBody() = default;
    TaskBody(const TaskBody&) = delete;
    TaskBody& operator=(const TaskBody&) = delete;
    ~TaskBody() { clear(); }

    template <class F>
    void put(F&& work) {
        using Work = std::decay_t<F>;
        clear();
        if constexpr (sizeof(Work) <= kInPlace && alignof(Work) <= alignof(std::max_align_t)) {
            put_in_place(std::forward<F>(work));
        } else {
            put_in_place([held = std::make_unique<Work>(std::forward<F>(work))] { (*held)(); });
        }
    }

    void call() { call_(bytes_); }

    void clear() {
        if (destroy_) destroy_(bytes_);
        destroy_ = nullptr;
        call_ = nullptr;
    }

  private:
    static constexpr std::size_t kInPlace = 48;

    template <class F>
    void put_in_place(F&& work) {
        using Work = std::decay_t<F>;
        new (bytes_) Work(std::forward<F>(work));
        call_ = [](std::byte* bytes) { (*std::launder(reinterpret_cast<Work*>(bytes)))(); };
        if constexpr (!std::is_trivially_destructible_v<Work>) {
            destroy_ = [](std::byte* bytes) {
                std::destroy_at(std::launder(reinterpret_cast<Work*>(bytes)));
            };
        }
    }

    alignas(std::max_align_t) std::byte bytes_[kInPlace];
    void (*call_)(std::byte*) = nullptr;
    void (*destroy_)(std::byte*) = nullptr;
};

}  // namespace internal

struct TasksOptions {
    std::size_t workers = 2;           ///< threads that run tasks, with that of the program where it helps
    std::string policy = "gpriority";  ///< or a list of them, see policy::make_policy()
    /// How much may be in flight at once. In tasks it is at most 65536; in iterations, next_iteration() marks
    /// where they begin.
    policy::Window window{.tasks = 1024};
    bool program_helps = true;  ///< the program's thread runs tasks while it waits or the window is full
    WaitMode waiting = WaitMode::mixed;
    /// Per worker; empty: not pinned. A program's thread that helps is the first worker.
    std::vector<PuSet> cores{};
    /// The kind of each worker's core; empty: all are of kind 0.
    std::vector<policy::KindId> kinds{};
    /// Where workers are of several kinds, each gets the tasks that its kind is good at, by times that are
    /// learned meanwhile; false: any that are ready.
    bool places = true;
    /// Shorter tasks are handed out several at a time, up to this much work; 0: always one by one.
    std::chrono::nanoseconds bundle{2000};
    policy::Adapting adapting{};  ///< of the adaptive policies
    /// Called for every task that ran, by the thread that ran it: of several at a time, though never of two
    /// of one worker. Tasks are then timed one by one.
    std::function<void(const ObservedTask&)> observe{};
};

/// A task that is running.
struct RunningTask {
    std::string type;  ///< its name, or "file.cpp:12"
    std::uint64_t number;
    std::size_t worker;
    double seconds;  ///< since it began, or short ones of its task type right before it
};

/// Results of the tasks since the last wait().
struct TasksReport {
    std::uint64_t ran = 0;
    std::uint64_t dropped = 0;  ///< not run: cancelled, or behind one that threw
    double work_us = 0;         ///< that those which ran took, over all threads
    std::string not_pinned{};   ///< a worker that is not on its cores, and why; empty: all are
};

/// Runs a program's tasks on several threads, so that memory is as if each had run when it was spawned. Tasks
/// spawned at the same place of the source are instances of one task type, unless the program says which one:
/// that is what adaptive policies learn of.
///
/// Belongs to the thread that makes it. Tasks must not spawn: that is refused, since the order of the program
/// would then depend on chance.
class Tasks {
  public:
    /// Throws policy::PolicyError for a policy or window that cannot be, PlatformError when the system
    /// refuses so many threads.
    explicit Tasks(TasksOptions options = {});
    /// Waits for all tasks; what they threw is lost.
    ~Tasks();
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;

    /// A task that does what `accesses` says, and that runs once those spawned before it which touch the same
    /// memory have; may run at once, later, or wait here for room in the window. Throws TasksError from
    /// within a task.
    template <class F>
    void spawn(std::initializer_list<Access> accesses, F&& work, std::int32_t priority = 0,
               std::source_location place = std::source_location::current()) {
        spawn(type_at(place), {accesses.begin(), accesses.size()}, std::forward<F>(work), priority);
    }

    /// The same for a task type that the program has named, and as many accesses as it likes.
    template <class F>
    void spawn(TaskType type, std::span<const Access> accesses, F&& work, std::int32_t priority = 0) {
        if constexpr (internal::Reduces<F>) work.check(accesses);
        if (internal::TaskBody* body = begin_spawn(type, accesses, internal::Reduces<F>)) {
            if constexpr (internal::Reduces<F>) work.take_turn();
            body->put(std::forward<F>(work));
            finish_spawn(type, accesses, priority);
        }
    }

    /// A new task type, for tasks that the place where they are spawned does not distinguish, or that are to
    /// run on cores of these kinds only. Throws TasksError when no worker is on such a core.
    TaskType type(std::string name, policy::KindSet kinds = policy::kAnyKind);

    /// The tasks spawned from here on are those of the next iteration.
    void next_iteration();

    /// Returns when all tasks are done. Throws TaskError when one threw: of several, the one spawned first.
    /// What was spawned behind it and had not begun does not run.
    TasksReport wait();

    /// From any thread: what has not begun does not run, until wait() has returned.
    void cancel();

    /// From any thread: what has run for `at_least`. For a watchdog that names the task which never ends.
    std::vector<RunningTask> running(std::chrono::milliseconds at_least = {}) const;

    /// The most tasks that were in flight at once.
    std::size_t most_in_flight() const;

  private:
    class Runtime;

    TaskType type_at(const std::source_location& place);
    internal::TaskBody* begin_spawn(TaskType type, std::span<const Access> accesses, bool adds_to_parts);
    void finish_spawn(TaskType type, std::span<const Access> accesses, std::int32_t priority);

    std::unique_ptr<Runtime> runtime_;
};

}  // namespace tidemill
