#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/structure.hpp"
#include "tidemill/run/checkpoint/checkpoint_wishes.hpp"
#include "tidemill/run/crew.hpp"
#include "tidemill/run/knobs/knob_book.hpp"
#include "tidemill/run/pool/thread_pool.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/run_options.hpp"
#include "tidemill/run/stream_run.hpp"
#include "tidemill/run/stretch.hpp"

namespace tidemill {

/// Runs a graph cut into stages: what all executors have in common. Its threads outlive a run.
class Engine final : public StretchRunner {
  public:
    /// Throws GraphError when the graph is faulty or the stages do not fit it.
    Engine(Graph& graph, EngineCut cut);

    /// Runs until the stream ends; throws FrameError when a task throws. Frames are numbered from 0.
    RunReport run(const RunOptions& options);

    /// Runs on after a run that ended for other reasons than a task's stop, of this or another executor:
    /// numbers go on, too. Throws
    /// RunError when tasks were told that the stream has ended.
    RunReport resume(const RunOptions& options);

    /// Changes the stages, also while another thread runs the stream: frames in flight are finished, clones
    /// are merged, and the next frame begins under the new stages. No frame is lost, doubled or out of order.
    /// Throws GraphError, and changes nothing, when the stages do not fit the graph.
    void reschedule(EngineCut cut);

    /// Changes knobs, from any thread: see Pipeline::set().
    SetAt set(const KnobSettings& settings) { return knobs_->set(settings); }

    /// See Pipeline::checkpoint().
    Checkpoint checkpoint();

    /// For who destroys it: RunGate::end().
    bool end_run() {
        wishes_.refuse();
        if (wishes_.gate().end()) return true;
        pool_.wait_for_others();
        return false;
    }

    Stretch run_stretch(const RunOptions& options, StreamRun& stream) override;
    void end_stream(const RunOptions& options, StreamRun& stream, RunTotals& totals) override;
    void halt() override;

    const Graph& graph() const { return graph_; }
    const Structure& structure() const override { return structure_; }

  private:
    using Clock = std::chrono::steady_clock;

    bool run_crew(const RunOptions& options, StreamRun& stream, Stretch& stretch);
    RunReport go(const RunOptions& wanted, bool anew);
    void work(Crew& crew, const RunOptions& options);
    void check(const EngineCut& cut) const;

    Graph& graph_;
    const std::size_t graph_size_;
    Structure structure_;
    EngineCut cut_;
    bool ended_ = false;                    // a task has ended the stream
    std::optional<StreamStop> stopped_by_;  // the task that said so
    std::shared_ptr<KnobBook> knobs_;
    CheckpointWishes wishes_;
    ThreadPool pool_;

    std::mutex mutex_;  // guards what follows
    RunState* running_ = nullptr;
    std::optional<EngineCut> wanted_cut_;
    Clock::time_point wanted_since_;
};

}  // namespace tidemill
