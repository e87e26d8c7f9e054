#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <source_location>
#include <thread>
#include <vector>

#include "tidemill/machine/making_process.hpp"
#include "tidemill/runtime/tasks/call_sites.hpp"
#include "tidemill/runtime/tasks/gathered_spawns.hpp"
#include "tidemill/runtime/tasks/run_limit.hpp"
#include "tidemill/runtime/tasks/spawn_board.hpp"
#include "tidemill/runtime/tasks/spawn_order.hpp"
#include "tidemill/runtime/tasks/spawn_worker.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"
#include "tidemill/runtime/threads/thread_pin.hpp"
#include "tidemill/runtime/threads/thread_pool.hpp"
#include "tidemill/runtime/threads/worker_pool.hpp"

namespace tidemill {

/// Implementation of Tasks. What the program's thread spawns is put in order, gathered, and handed over some
/// at a time to the board that it shares with the workers.
class Tasks::Runtime {
  public:
    explicit Runtime(TasksOptions options);
    ~Runtime();

    /// False where nobody can wait for the workers: in a task, which may call exit(), and in a forked
    /// process.
    bool can_end() const;

    TaskType type(std::string name, policy::KindSet kinds);
    TaskType type_at(const std::source_location& place);
    internal::TaskBody* begin_spawn(TaskType type, std::span<const Access> accesses, bool adds_to_parts);
    void finish_spawn(TaskType type, std::span<const Access> accesses, std::int32_t priority);
    void next_iteration();
    TasksReport wait();
    void cancel() { limit_.drop_from(0); }
    std::vector<RunningTask> running(std::chrono::milliseconds at_least) const;
    std::size_t most_in_flight() const;

  private:
    void check_spawner() const;
    void start_threads();
    void work_as(policy::WorkerId worker);
    void pin(policy::WorkerId worker);
    void hand_over();
    void help_until(SpawnBoard::Goal goal);

    TasksOptions options_;
    std::uint64_t bundle_ticks_;
    MakingProcess process_;
    std::thread::id owner_ = std::this_thread::get_id();
    policy::WorkerId program_;  // the program's thread: the first worker, or a visitor
    SpawnOrder order_;
    std::unique_ptr<internal::TaskBody[]> bodies_;  // per slot
    std::uint64_t dropped_ = 0;                     // before they were spawned
    RunLimit limit_;
    GatheredSpawns gathered_;
    alignas(64) SpawnBoard board_;
    WorkerPool<SpawnBoard> workers_;
    CallSites sites_;  // written in turns by the program's thread, which may read it at any time
    SpawnWorker::Shared shared_;
    std::deque<SpawnWorker> crew_;  // and the program's thread, last where it does not help
    const SpawnWorker* program_worker_ = nullptr;
    std::deque<ThreadPin> pins_;  // per worker
    bool closing_ = false;        // guarded by the workers' lock
    ThreadPool pool_;             // last, so that its threads end first
};

}  // namespace tidemill
