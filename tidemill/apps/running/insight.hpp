#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/options/command_line.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/observe/debug_print.hpp"
#include "tidemill/runtime/observe/probes.hpp"
#include "tidemill/runtime/observe/trace.hpp"
#include "tidemill/runtime/observe/watchdog.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::cli {

/// Looks at a run that the user wants, by the command line.
struct InsightOptions {
    std::string trace;                ///< file for a trace; empty: none
    std::string graph;                ///< file for a drawing of the graph (.svg, .dot); empty: none
    std::vector<std::string> probes;  ///< sockets, "module.socket"
    std::uint64_t print_frames = 0;   ///< print all sockets of the first frames of each task
    double watchdog_s = 0;            ///< report when nothing moves for so long; 0: never
};

/// Opens the file as a run will have to in the end, and leaves it as it is. Throws JobFailed where that
/// cannot be; no file is asked for by an empty path.
void check_writable(const std::filesystem::path& path);

void add_insight_options(Verb& verb, InsightOptions& options);

/// Looks into one run of a graph and writes down what it saw.
class Insight {
  public:
    /// Throws WrongUsage for a file that cannot be written and GraphError for a socket that is not there, so
    /// that nobody waits for a run that has nowhere to go.
    Insight(const InsightOptions& options, const Graph& graph);

    /// Lets the run be looked at.
    void watch(RunOptions& run);

    /// Writes trace and drawing, and the probes' table to standard error.
    void write(const std::optional<Schedule>& schedule, const RunReport& report) const;

  private:
    const InsightOptions& options_;
    const Graph& graph_;
    std::optional<Trace> trace_;
    std::optional<Probes> probes_;
    std::optional<DebugPrint> print_;
    std::optional<Watchdog> watchdog_;
};

}  // namespace tidemill::cli
