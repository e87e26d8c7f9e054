#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/dynamic/dynamic_units.hpp"
#include "tidemill/runtime/dynamic/kind_times.hpp"
#include "tidemill/runtime/dynamic/task_crew.hpp"
#include "tidemill/runtime/execute/stream_engine.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/report/run_totals.hpp"
#include "tidemill/scheduling/unequal/placement.hpp"

namespace tidemill {

/// Runs a graph as units on frames, for Dynamic.
class DynamicEngine final : public StreamEngine {
  public:
    /// Throws what Dynamic's constructor throws.
    DynamicEngine(Graph& graph, DynamicOptions options);

    Stretch run_stretch(const RunOptions& options, StreamRun& stream) override;
    void halt() override;

    /// Per segment, how many frames may be in flight.
    std::vector<std::uint32_t> tokens() const;

  private:
    /// Results of all crews of a run.
    struct Told {
        KindTimes times;
        RunTotals totals{};
        std::vector<ThreadReport> threads{};
        double elapsed_s = 0;
        StretchEnd end = StretchEnd::open;
    };

    void check_options() const;
    void check(const RunOptions& options) const override;
    std::vector<policy::KindId> kinds() const;
    std::vector<std::string> kind_names() const;
    std::vector<bridge::KnownTicks> known_ticks() const;
    std::uint64_t bytes_per_frame() const;
    std::uint64_t default_window() const;
    TaskCrew::Settings settings(const RunOptions& options, const StreamRun& stream) const;
    bool run_crew(const RunOptions& options, StreamRun& stream, Told& told);
    void work(TaskCrew& crew, const RunOptions& options);
    EngineCut cut_at_end() const override;
    void fill_report(const Told& told, const RunTotals& totals, RunReport& report) const;

    DynamicOptions options_;
    Plan plan_;
    std::vector<DynamicUnit> units_;

    std::mutex mutex_;  // guards what follows
    TaskCrew* running_ = nullptr;
};

}  // namespace tidemill
