#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tidemill/run/dynamic/bell.hpp"
#include "tidemill/run/dynamic/spin_lock.hpp"
#include "tidemill/run/dynamic/task_board.hpp"
#include "tidemill/run/dynamic/task_worker.hpp"
#include "tidemill/run/run_options.hpp"
#include "tidemill/run/run_totals.hpp"
#include "tidemill/run/thread_place.hpp"

namespace tidemill {

/// The workers of one run of dynamic scheduling, with the clones that they work on.
///
/// They share one board, and take turns at it. What costs less than a microsecond or so is handed out by the
/// bundle, and nobody is woken for less, so turns are few beside the work.
class TaskCrew {
  public:
    struct Settings {
        TaskBoard::Settings board;
        WaitMode waiting = WaitMode::mixed;
        std::vector<PuSet> cores{};  ///< per worker; empty: not pinned
    };

    TaskCrew(Graph& graph, const Plan& plan, const std::vector<Kernel>& kernels, const Settings& settings,
             const RunOptions& options);

    /// Runs until the stream ends; one unpinned worker runs in the calling thread. Clones are merged.
    void run(ThreadPool& pool);

    /// Ends the stream soon, from any thread; frames in flight are finished.
    void halt() { halting_.store(true, std::memory_order_relaxed); }

    /// When nothing runs.
    const TaskBoard& board() const { return board_; }
    void add_to(RunTotals& totals) const;
    std::vector<ThreadReport> thread_reports() const;

  private:
    // What a thread needs for itself is made, and so touched first, by the thread.
    struct Seat {
        Seat(const std::vector<PuSet>& cores, TaskWorker::Options its_options)
            : place(cores, its_options.index), options(std::move(its_options)) {}

        ThreadPlace place;
        TaskWorker::Options options;
        std::optional<TaskWorker> worker;
        std::vector<TaskRun> runs;
        Bell bell;
    };

    void settle(std::size_t index);
    void serve(std::size_t index);
    void take_turn(std::size_t index);
    void rest(std::size_t index);
    Seat* next_to_wake(std::size_t index);
    bool is_worth_waking(policy::KindId kind, std::size_t index) const;
    std::size_t hungry(std::size_t index) const;
    policy::KindId kind_of(std::size_t index) const { return settings_.board.kinds[index]; }
    void ring_all();

    Settings settings_;
    Graph& graph_;
    const Plan& plan_;
    const std::vector<Kernel>& kernels_;
    FrameMemory memory_;
    std::deque<Seat> seats_;
    std::atomic<bool> halting_{false};

    alignas(64) SpinLock turn_;  // guards what follows
    TaskBoard board_;
    std::vector<std::vector<std::size_t>> idle_;  // workers, per kind of core
    bool halted_ = false;
};

}  // namespace tidemill
