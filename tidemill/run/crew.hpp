#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/plan.hpp"
#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/run_options.hpp"
#include "tidemill/run/run_state.hpp"
#include "tidemill/run/thread_pool.hpp"
#include "tidemill/run/worker.hpp"

namespace tidemill {

/// What a stream did so far, over all crews that worked on it.
struct RunTotals {
    std::vector<Durations> step_times;  ///< per step of the order
    Durations latencies;
    std::uint64_t frames = 0;
    std::uint64_t delivered = 0;
    std::uint64_t skipped = 0;
};

/// The workers that run a graph in one cut, with the clones that replicas work on.
class Crew {
  public:
    /// `first_frames` are the numbers with which each segment begins. Throws GraphError when the stages do
    /// not fit the graph, or a module that is to be replicated cannot be copied.
    Crew(Graph& graph, const Structure& structure, const std::vector<EngineStage>& stages,
         const RunOptions& options, const std::vector<std::uint64_t>& first_frames);

    RunState& state() { return state_; }

    /// Runs until the stream ends; one unpinned worker runs in the calling thread. Clones are merged.
    void run(ThreadPool& pool);

    /// The number that each segment's next frame will have.
    std::vector<std::uint64_t> next_frames();

    void add_to(RunTotals& totals) const;
    std::vector<StageReport> stage_reports() const;
    std::vector<SegmentReport> segment_reports(const RunTotals& totals) const;

  private:
    struct Clone {
        Module* original;
        std::unique_ptr<Module> copy;
    };

    std::vector<std::size_t> ring_sizes() const;
    bool any_sleeper() const;
    void add_worker(Graph& graph, const RunOptions& options, std::size_t stage, std::size_t replica);
    std::vector<Module*> modules_for(Graph& graph, std::size_t stage, std::size_t replica);
    const PuSet* cores_of(const Worker& worker) const;

    const std::vector<EngineStage>& stages_;
    const Structure& structure_;
    Plan plan_;
    RunState state_;
    std::vector<Clone> clones_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::optional<PinError>> pin_errors_;  // per worker
};

}  // namespace tidemill
