#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <source_location>
#include <thread>
#include <vector>

#include "tidemill/policy/throttle.hpp"
#include "tidemill/run/dynamic/bell.hpp"
#include "tidemill/run/dynamic/spin_lock.hpp"
#include "tidemill/run/thread_pool.hpp"
#include "tidemill/tasks/call_sites.hpp"
#include "tidemill/tasks/region_table.hpp"
#include "tidemill/tasks/spawned_tasks.hpp"
#include "tidemill/tasks/task_body.hpp"
#include "tidemill/tasks/tasks.hpp"

namespace tidemill {

/// The threads behind Tasks. What the program's thread spawns is gathered, and handed over some at a time;
/// then, and when a worker has done what it was given, is when threads take turns.
class Tasks::Runtime {
  public:
    explicit Runtime(TasksOptions options);
    ~Runtime();

    TaskKernel kernel(std::string name);
    TaskKernel kernel_at(const std::source_location& place);
    TaskBody* begin_spawn();
    void finish_spawn(TaskKernel kernel, std::span<const Access> accesses, std::int32_t priority);
    void next_iteration();
    TasksReport wait();
    void cancel() { drop_from(0); }
    std::vector<RunningTask> running(std::chrono::milliseconds at_least) const;
    std::size_t most_in_flight() const;

  private:
    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t kGathered = 64;
    static constexpr std::uint64_t kMoves =
        16;  // what it costs to move so many tasks to another core is a bundle
    static constexpr std::size_t kRoom = 256;  // slots for which the program is woken

    struct Failure {
        std::uint64_t number;
        policy::KernelId kernel;
        std::exception_ptr cause;
    };
    // A thread that runs tasks. The first one is the program's.
    struct alignas(64) Seat {
        policy::WorkerId worker = 0;  // has no meaning where the program does not help
        std::vector<policy::TaskSlot> tasks;
        std::vector<std::uint64_t> ticks;  // of each of them
        std::vector<Failure> failures;
        std::uint64_t ran = 0;
        std::uint64_t dropped = 0;
        std::uint64_t work_ticks = 0;
        bool soon_back = false;  // its tasks take less than a bundle
        bool waited = false;     // for so long that it takes whatever there is
        Bell bell;
        std::atomic<std::uint64_t> start{0};  // tick at which it, or one right before, began; 0: none runs
        std::atomic<std::uint64_t> number{0};
        std::atomic<policy::KernelId> kernel{0};
    };

    void check_spawner() const;
    void drop_from(std::uint64_t number);
    void hand_over();
    void serve(std::size_t seat);
    void help_until(bool (Runtime::*is_enough)() const);
    bool rest(std::size_t seat);
    void run(Seat& seat);
    std::size_t run_alike(Seat& seat, std::size_t first);
    void observe(const Seat& seat, policy::TaskSlot task, std::uint64_t start, std::uint64_t end);
    void run_task(Seat& seat, policy::TaskSlot task);
    // What follows is called by whoever has the turn.
    void settle(std::size_t seat);
    bool take(std::size_t seat);
    bool left_to_others(std::size_t seat) const;
    bool left_to_program() const;
    std::size_t hungry() const;
    Seat* next_to_wake(std::uint64_t own_ticks);
    Seat* program_to_wake();
    bool has_room() const;
    bool may_begin_iteration() const;
    bool is_done() const { return tasks_.in_flight() == 0; }

    TasksOptions options_;
    std::uint64_t bundle_ticks_;
    std::thread::id owner_ = std::this_thread::get_id();
    bool helping_ = false;  // the program's thread runs a task

    // Of the program's thread alone.
    std::vector<std::uint64_t> numbers_;  // per slot, of the task that has it
    std::vector<policy::TaskSlot> free_;
    RegionTable regions_;
    Spawn next_{};
    std::vector<TaskRef> next_predecessors_;
    std::uint64_t spawned_ = 0;
    std::uint64_t iteration_ = 0;
    std::uint64_t dropped_ = 0;
    std::unique_ptr<TaskBody[]> bodies_;  // per slot

    std::atomic<std::uint64_t> limit_{kNever};  // tasks from there on do not run
    std::atomic<bool> hungry_{false};           // somebody waits for work
    std::deque<Seat> seats_;

    // Taken before turn_. A worker that has long been idle hands over, too: the program may be busy
    // elsewhere.
    alignas(64) SpinLock gathering_;  // guards what follows
    std::vector<Spawn> spawns_;       // not handed over yet
    std::vector<TaskRef> predecessors_;
    std::uint64_t handed_over_at_ = 0;

    alignas(64) mutable SpinLock turn_;  // guards what follows
    SpawnedTasks tasks_;
    std::optional<policy::Throttle> throttle_;  // of iterations, where they are limited
    CallSites sites_;  // written by the program's thread alone, which may read it at any time
    std::vector<policy::TaskSlot> freed_;
    std::vector<std::size_t> idle_;  // seats
    std::optional<Failure> failure_;
    std::size_t most_in_flight_ = 0;
    std::size_t soon_back_ = 0;  // seats
    bool program_waits_ = false;
    bool closing_ = false;

    ThreadPool pool_;  // last, so that its threads end first
};

}  // namespace tidemill
