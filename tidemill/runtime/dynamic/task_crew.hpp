#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/dynamic/task_board.hpp"
#include "tidemill/runtime/dynamic/task_worker.hpp"
#include "tidemill/runtime/execute/thread_setup.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/report/run_totals.hpp"
#include "tidemill/runtime/stream/book_teller.hpp"
#include "tidemill/runtime/threads/worker_pool.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

namespace tidemill {

/// The workers of one run of dynamic scheduling, with the clones that they work on.
class TaskCrew {
  public:
    struct Settings {
        TaskBoard::Settings board;
        WaitMode waiting = WaitMode::mixed;
        std::vector<PuSet> cores{};  ///< per worker; empty: not pinned
        std::vector<std::string> kind_names{};
        std::shared_ptr<const bridge::Emulation> emulation{};
    };

    TaskCrew(Graph& graph, const Plan& plan, const std::vector<DynamicUnit>& units, const Settings& settings,
             const RunOptions& options, KnobBook& knobs);

    /// Runs until the stream ends; one unpinned worker runs in the calling thread.
    void run(ThreadPool& pool);
    /// Behind that, once. Throws ModuleError.
    void merge_clones();

    /// Ends the stream soon, from any thread; frames in flight are finished.
    void halt() { turns_.halt(); }

    /// Throws what a policy threw, and what a task did. When nothing runs, as what follows.
    void rethrow() {
        turns_.rethrow();
        board_.rethrow();
        if (turns_.has_lost_thread()) FrameFailure{}.raise();
    }
    const TaskBoard& board() const { return board_; }
    /// The number that each branch's next frame will have.
    std::vector<std::uint64_t> next_frames() const;
    void add_to(RunTotals& totals) const;
    /// Times of each step on cores of one kind; empty without statistics.
    std::vector<Durations> step_times_on(policy::KindId kind) const;
    std::vector<ThreadReport> thread_reports() const;

  private:
    /// The board as workers see it in their turns, and any caller that wants the stream to end.
    class Turns {
      public:
        using Hand = HeldRuns;
        using WorkerId = policy::WorkerId;

        Turns(TaskBoard& board, const std::vector<DynamicUnit>& units) : board_(board), ends_(units) {}

        void halt() { halting_.store(true, std::memory_order_relaxed); }
        const std::atomic<bool>& halting() const { return halting_; }
        const UnitEnds& ends() const { return ends_; }

        /// Whether the board, or what it calls (a policy), has thrown: what it knows is not to be relied on,
        /// so all leave. Asked in a turn.
        bool failed() const { return failed_.load(std::memory_order_relaxed); }
        void fail(const std::exception_ptr& failure) {
            set_failed(true);
            failure_.note(failure);
        }
        /// Throws that.
        void rethrow() { failure_.rethrow(); }

        /// Whether a call into the board does not come back, since this thread calls exit() in one. Asked
        /// outside of a turn.
        bool is_stuck() const {
            for (int look = 0; look < 1000 && failed(); ++look) RealThreads::yield_core();
            return failed();
        }

        /// A forced unwind has ended one of the threads.
        void lose_thread() {
            lost_thread_.store(true, std::memory_order_relaxed);
            halt();
        }
        bool has_lost_thread() const { return lost_thread_.load(std::memory_order_relaxed); }

        void settle(WorkerId worker, HeldRuns& held);
        bool may_take(WorkerId worker) const { return board_.may_take(worker); }
        long patience_ns(WorkerId worker) const;
        void take(WorkerId worker, std::size_t idle_peers, HeldRuns& held) {
            guarded([&] { held.expected_ticks = board_.take(worker, idle_peers, held.runs); });
            if (failed()) held.runs.clear();
        }
        const ReadyWork& ready() const { return board_.ready(); }
        static std::uint64_t expected_ticks(const HeldRuns& held) { return held.expected_ticks; }
        static constexpr std::optional<WorkerId> released() { return {}; }

      private:
        void set_failed(bool failed) { failed_.store(failed, std::memory_order_relaxed); }
        void settle_all(WorkerId worker, HeldRuns& held);
        // No task is handed out or taken back once a call has failed.
        template <class Call>
        void guarded(Call call) {
            if (failed()) return;
            set_failed(true);
            const auto failure = internal::thrown_by(call);
            if (failure) return fail(failure);
            set_failed(false);
        }

        TaskBoard& board_;
        UnitEnds ends_;
        std::atomic<bool> halting_{false};
        bool halted_ = false;
        std::atomic<bool> lost_thread_{false};
        std::atomic<bool> failed_{false};  // or a call into the board is not over
        internal::FirstFailure failure_{};
    };

    // Objects that a thread needs for itself are made, and so touched first, by the thread.
    struct Seat {
        Seat(const std::vector<PuSet>& cores, TaskWorker::Options its_options)
            : setup(cores, its_options.index), options(std::move(its_options)) {}

        ThreadSetup setup;
        TaskWorker::Options options;
        std::optional<TaskWorker> worker;
    };

    std::optional<bridge::Stretch> stretch_of(policy::KindId kind) const;
    TaskBoard::Settings board_settings(KnobBook& knobs, const RunOptions& options);
    void name_knobs(const CarriedFrame& frame);
    void settle(std::size_t index);
    void serve(std::size_t index);

    Settings settings_;
    Graph& graph_;
    const Plan& plan_;
    const std::vector<DynamicUnit>& units_;
    FrameMemory memory_;
    std::optional<KnobBook::Beginner> beginner_;  // where the graph has knobs
    std::optional<BookTeller> teller_;            // the same
    std::deque<Seat> seats_;
    alignas(64) TaskBoard board_;
    Turns turns_{board_, units_};
    WorkerPool<Turns> workers_;
};

}  // namespace tidemill
