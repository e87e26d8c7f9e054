#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/plan.hpp"
#include "tidemill/platform/pu_set.hpp"
#include "tidemill/run/observer.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/worker.hpp"

namespace tidemill {

/// When a run ends, besides at the end of its source.
struct RunOptions {
    std::uint64_t frames = TokenRing::kEndless;  ///< source frames to begin at most
    std::function<bool()> stop_when{};           ///< asked before each source frame
    std::stop_token stop{};                      ///< ends the run from another thread
    bool statistics = true;                      ///< off: no times in the report, and no cost
    std::vector<Observer*> observers{};          ///< look at every call and wait; they must outlive the run
};

/// How one stage of a cut runs.
struct EngineStage {
    StageCut cut;
    std::size_t ring_depth = 1;            ///< frames that may wait between this stage and the next
    WaitMode waiting = WaitMode::passive;  ///< at that ring
    std::vector<PuSet> cores{};            ///< per thread; empty: not pinned
};

/// Runs a graph cut into stages: what all executors have in common.
class Engine {
  public:
    /// Throws GraphError when the graph is faulty or the stages do not fit it.
    Engine(Graph& graph, std::vector<EngineStage> stages);

    /// Runs until the stream ends; one stage with one unpinned thread runs in the calling thread.
    /// Throws RunError when a task throws.
    RunReport run(const RunOptions& options);

    const Structure& structure() const { return structure_; }

  private:
    struct Crew;

    std::vector<std::size_t> ring_sizes() const;
    bool any_sleeper() const;
    Worker::Options worker_options(std::size_t stage, const RunOptions& options) const;
    void run_threads(Crew& crew) const;
    std::vector<SegmentReport> report_segments(const std::vector<Durations>& step_times) const;
    RunReport report(const Crew& crew, double elapsed_s) const;

    Graph& graph_;
    Structure structure_;
    std::vector<EngineStage> stages_;
    Plan plan_;
};

}  // namespace tidemill
