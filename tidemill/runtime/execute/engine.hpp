#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "tidemill/runtime/execute/crew.hpp"
#include "tidemill/runtime/execute/stream_engine.hpp"

namespace tidemill {

/// Runs a graph cut into stages, for Sequence and Pipeline.
class Engine final : public StreamEngine {
  public:
    /// Throws GraphError when the graph is faulty or the stages do not fit it.
    Engine(Graph& graph, EngineCut cut);

    /// Changes the stages, also while another thread runs the stream: frames in flight are finished, clones
    /// are merged, and the next frame begins under the new stages. No frame is lost, doubled or out of order.
    /// Throws GraphError, and changes nothing, when the stages do not fit the graph.
    void reschedule(EngineCut cut);

    Stretch run_stretch(const RunOptions& options, StreamRun& stream) override;
    void halt() override;

  private:
    using Clock = std::chrono::steady_clock;

    bool run_crew(const RunOptions& options, StreamRun& stream, Stretch& stretch);
    void work(Crew& crew, const RunOptions& options);
    void check_cut(const EngineCut& cut) const;
    EngineCut cut_at_end() const override { return cut_; }

    EngineCut cut_;

    std::mutex mutex_;  // guards what follows
    RunState* running_ = nullptr;
    std::optional<EngineCut> wanted_cut_;
    Clock::time_point wanted_since_;
};

}  // namespace tidemill
