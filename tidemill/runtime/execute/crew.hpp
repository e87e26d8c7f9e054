#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tidemill/runtime/execute/engine_cut.hpp"
#include "tidemill/runtime/execute/run_state.hpp"
#include "tidemill/runtime/execute/thread_setup.hpp"
#include "tidemill/runtime/execute/worker.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/report/run_totals.hpp"
#include "tidemill/runtime/stream/book_teller.hpp"
#include "tidemill/runtime/threads/bell.hpp"

namespace tidemill {

/// The workers that run a graph in one cut, with the clones that replicas work on.
class Crew {
  public:
    /// `first_frames` are the numbers with which each segment begins, `frames` is how many frames of the
    /// source there are at most. With an `end` the crew runs what that gives behind the stream's last frame,
    /// and its source is the first task that runs at the end, under `end_knobs` where the graph has knobs;
    /// `knobs` are the graph's. Throws GraphError when the stages do not fit the graph, or a module that is
    /// to be replicated cannot be copied.
    Crew(Graph& graph, const Structure& structure, const EngineCut& cut, const RunOptions& options,
         const std::vector<std::uint64_t>& first_frames, std::uint64_t frames, KnobBook& knobs,
         const EndOfStream* end = nullptr, KnobTable* end_knobs = nullptr);

    RunState& state() { return state_; }

    /// Runs until the stream ends; one unpinned worker runs in the calling thread. Throws what a module's
    /// copying threw, before any task has run.
    void run(ThreadPool& pool);
    /// Behind that, once. Throws ModuleError.
    void merge_clones();

    /// The number that each branch's next frame will have; where a task ended the stream, it is the frame
    /// before which it did.
    std::vector<std::uint64_t> next_frames() const;

    /// The task that said stop, if that ended the stream.
    std::optional<StreamStop> stopped_by() const;

    void add_to(RunTotals& totals) const;
    std::vector<StageReport> stage_reports() const;
    std::vector<SegmentReport> segment_reports(const RunTotals& totals) const;

  private:
    /// A thread's place in a stage. What it needs for itself is made, and so touched first, by the thread.
    struct Seat {
        Seat(std::size_t its_stage, std::size_t its_replica, const std::vector<PuSet>& cores,
             Worker::Options its_options)
            : stage(its_stage),
              replica(its_replica),
              setup(cores, its_replica),
              options(std::move(its_options)) {}

        std::size_t stage;
        std::size_t replica;
        std::size_t thread = 0;
        ThreadSetup setup;
        Worker::Options options;
        std::optional<Worker> worker;
    };

    /// The seats of one, and what wakes it where it has several.
    struct Thread {
        std::vector<Seat*> seats{};
        Bell<RealThreads>* bell = nullptr;
        WaitMode waiting = WaitMode::passive;
    };

    std::vector<std::size_t> ring_sizes() const;
    std::uint64_t frames_in_flight() const;
    std::size_t gathered(std::size_t stage) const;
    bool are_gathered(std::size_t segment) const;
    TaskOptions options_alone(std::size_t stage) const;
    std::uint32_t under_way(std::size_t stage) const;
    std::uint32_t gathers(std::size_t stage) const;
    std::vector<RingShape> ring_shapes(bool drops) const;
    bool works(const PlannedStage& stage) const { return stage.parts.back().segment >= first_segment_; }
    bool any_sleeper() const;
    bool drops_late(const RunOptions& options) const;
    Worker::Options options_for(std::size_t stage, std::size_t replica, const RunOptions& options);
    void seat_threads();
    void settle(Seat& seat);
    void work(const Thread& thread);
    static void walk(const Thread& thread);
    static void hand_all_on(const Thread& thread, const std::exception_ptr& why);
    std::vector<Module*> modules_for(Seat& seat);

    Graph& graph_;
    KnobBook& knobs_;
    const EngineCut& cut_;
    const Structure& structure_;
    const EndOfStream* end_;
    KnobTable* end_knobs_;
    std::uint32_t first_segment_;
    std::uint32_t first_branch_;
    std::vector<std::uint64_t> first_frames_;
    std::uint64_t frames_;
    Plan plan_;
    std::optional<BookTeller> teller_;  // of a graph with knobs
    RunState state_;
    std::deque<Seat> seats_;
    std::vector<Thread> threads_;
    std::deque<Bell<RealThreads>> bells_;
};

}  // namespace tidemill
