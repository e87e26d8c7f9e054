#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/bridge/placement.hpp"
#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/plan.hpp"
#include "tidemill/graph/structure.hpp"
#include "tidemill/run/checkpoint/checkpoint_wishes.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/dynamic/dynamic_units.hpp"
#include "tidemill/run/dynamic/kind_times.hpp"
#include "tidemill/run/dynamic/task_crew.hpp"
#include "tidemill/run/engine_cut.hpp"
#include "tidemill/run/knobs/knob_book.hpp"
#include "tidemill/run/pool/thread_pool.hpp"
#include "tidemill/run/run_totals.hpp"
#include "tidemill/run/stream_run.hpp"
#include "tidemill/run/stream_stop.hpp"
#include "tidemill/run/stretch.hpp"

namespace tidemill {

/// What is behind Dynamic: the graph as units, and the threads, which outlive a run.
class DynamicEngine final : public StretchRunner {
  public:
    /// Throws what Dynamic's constructor throws.
    DynamicEngine(Graph& graph, DynamicOptions options);

    /// Frames are numbered from 0.
    RunReport run(const RunOptions& options);
    /// Runs on after a run that ended for other reasons than a task's stop: numbers go on, too.
    RunReport resume(const RunOptions& options);

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

    const Structure& structure() const override { return structure_; }

    /// Per segment, how many frames may be in flight.
    std::vector<std::uint32_t> tokens() const;

  private:
    /// What all crews of a run tell.
    struct Told {
        KindTimes times;
        RunTotals totals{};
        std::vector<ThreadReport> threads{};
        double elapsed_s = 0;
        StretchEnd end = StretchEnd::open;
    };

    void check() const;
    void check_late(const RunOptions& options) const;
    std::vector<policy::KindId> kinds() const;
    std::vector<std::string> kind_names() const;
    std::vector<bridge::KnownTicks> known_ticks() const;
    std::uint64_t bytes_per_frame() const;
    std::uint64_t default_window() const;
    RunReport go(const RunOptions& options, bool anew);
    TaskCrew::Settings settings(const RunOptions& options, const StreamRun& stream) const;
    bool run_crew(const RunOptions& options, StreamRun& stream, Told& told);
    void work(TaskCrew& crew, const RunOptions& options);
    EngineCut cut_at_end() const;
    void fill_report(const Told& told, const RunTotals& totals, RunReport& report) const;

    Graph& graph_;
    const std::size_t graph_size_;
    DynamicOptions options_;
    Structure structure_;
    Plan plan_;
    std::vector<DynamicUnit> units_;
    std::optional<StreamStop> stopped_by_;  // the task that has ended the stream, where one did
    std::shared_ptr<KnobBook> knobs_;
    CheckpointWishes wishes_;
    ThreadPool pool_;

    std::mutex mutex_;  // guards what follows
    TaskCrew* running_ = nullptr;
};

}  // namespace tidemill
