#pragma once

#include <memory>
#include <optional>

#include "tidemill/runtime/execute/engine_cut.hpp"
#include "tidemill/runtime/execute/stream_run.hpp"
#include "tidemill/runtime/execute/stream_stop.hpp"
#include "tidemill/runtime/execute/stretch.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/stream/checkpoint_requests.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"
#include "tidemill/runtime/threads/thread_pool.hpp"

namespace tidemill {

/// The part behind Executor that all executors share; Executor says what its functions do. Its threads
/// outlive a run.
class StreamEngine : public StretchRunner {
  public:
    explicit StreamEngine(Graph& graph);

    RunReport run(const RunOptions& options) { return go(options, /*anew=*/true); }
    RunReport resume(const RunOptions& options);
    SetAt set(const KnobSettings& settings) { return knobs_->set(settings); }
    Checkpoint checkpoint();

    /// For its destruction: RunGate::end().
    bool end_run();

    void end_stream(const RunOptions& options, StreamRun& stream, RunTotals& totals) final;

    const Graph& graph() const { return graph_; }
    const Structure& structure() const final { return structure_; }

  protected:
    /// Throws RunError for what this executor cannot do.
    virtual void check(const RunOptions& /*options*/) const {}
    /// The stages that run frames behind the stream's end.
    virtual EngineCut cut_at_end() const = 0;

    Graph& graph_;
    const Structure structure_;
    std::optional<StreamStop> stopped_by_;  // the task that has ended the stream
    std::shared_ptr<KnobBook> knobs_;
    ThreadPool pool_;

  private:
    RunReport go(const RunOptions& wanted, bool anew);

    const std::size_t graph_size_;
    CheckpointRequests wishes_;
};

}  // namespace tidemill
