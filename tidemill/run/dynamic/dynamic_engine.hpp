#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/plan.hpp"
#include "tidemill/graph/structure.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/dynamic/dynamic_units.hpp"
#include "tidemill/run/engine_cut.hpp"
#include "tidemill/run/knobs/knob_book.hpp"
#include "tidemill/run/pool/thread_pool.hpp"
#include "tidemill/run/stream_stop.hpp"

namespace tidemill {

class TaskCrew;
struct RunTotals;

/// What is behind Dynamic: the graph as units, and the threads, which outlive a run.
class DynamicEngine {
  public:
    /// Throws what Dynamic's constructor throws.
    DynamicEngine(Graph& graph, DynamicOptions options);

    /// Frames are numbered from 0.
    RunReport run(const RunOptions& options);
    /// Runs on after a run that ended for other reasons than a task's stop: numbers go on, too.
    RunReport resume(const RunOptions& options);

    SetAt set(const KnobSettings& settings) { return knobs_.set(settings); }

    const Structure& structure() const { return structure_; }

    /// Per segment, how many frames may be in flight.
    std::vector<std::uint32_t> tokens() const;

  private:
    void check() const;
    std::vector<policy::KindId> kinds() const;
    std::vector<std::string> kind_names() const;
    std::uint64_t bytes_per_frame() const;
    std::uint64_t default_window() const;
    RunReport go(const RunOptions& options, bool anew);
    EngineCut cut_at_end() const;
    void end_stream(const RunOptions& options, std::optional<StreamStop> stopped_by, RunTotals& totals);
    void fill_report(const TaskCrew& crew, const RunTotals& totals, RunReport& report) const;

    Graph& graph_;
    const std::size_t graph_size_;
    DynamicOptions options_;
    Structure structure_;
    Plan plan_;
    std::vector<DynamicUnit> units_;
    internal::StreamPlace* place_ = nullptr;  // while it runs
    KnobBook knobs_;
    ThreadPool pool_;
};

}  // namespace tidemill
