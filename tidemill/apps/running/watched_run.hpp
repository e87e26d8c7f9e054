#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tidemill/apps/running/insight.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/options/command_line.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill::cli {

/// Choice and forecast of a run, and how it fared.
struct RunAccount {
    std::optional<Choice> choice{};
    std::optional<Forecast> forecast{};
    double came_to_us = 0;  ///< microseconds a source frame under what was predicted; 0: not known
};

RunAccount account_of(const GraphRun& run);

/// A line for what was chosen, one for the forecast; empty where there are none.
std::string account_text(const RunAccount& account);
Json choice_json(const RunAccount& account);
Json forecast_json(const RunAccount& account);

/// How a verb runs a graph, and what the user wants to see of it.
struct RunningOptions {
    RunConfig how{};
    std::string kinds{};                ///< as topology_by() reads them
    std::string energy_meter = "auto";  ///< as find_energy_meter() reads it
    InsightOptions insight{};
    std::stop_token stop{};  ///< of the program that this one is inside of; else the user's signals end it
};

/// Events that may end a run: its source alone, of which the verb says more, or frames and time as well.
enum class RunEnds { with_its_source, as_asked };

/// Adds the options that every verb has that runs a graph.
void add_running_options(Verb& verb, RunningOptions& options, RunEnds ends = RunEnds::as_asked);

/// Writes to standard error what was scheduled, what period that promises in the given words, and warnings.
void announce(const GraphRun& run, const std::string& promise);

/// A period in the words of announce().
std::string promised_period(const GraphRun& run);

/// Runs a graph under the user's eyes: a progress line, Ctrl-C, energy, and what insight is wanted.
class WatchedRun {
  public:
    /// Throws for what cannot be measured or written, so that nobody waits for a run that has nowhere to go.
    WatchedRun(const RunningOptions& options, Graph& graph);

    /// Called from another thread when the user wants the run to end: a source may be waiting for its data.
    void ends_with(std::function<void()> end) { end_ = std::move(end); }

    /// Runs it. `line` describes the progress; without one, frames are counted.
    void go(GraphRun& run, RunOptions options = {}, std::function<std::string()> line = {},
            const GraphRun::Follow& follow = {});

    /// Writes down what was wanted of it.
    void write(const GraphRun& run) const;

    const RunReport& report() const { return report_; }
    bool interrupted() const { return interrupted_; }

  private:
    Graph& graph_;
    std::stop_token outside_;
    FoundEnergyMeter energy_;
    Insight insight_;
    std::function<void()> end_ = [] {};
    RunReport report_{};
    bool interrupted_ = false;
};

/// The energy of a run in one line. Why each of several meters did not answer is reported in full only.
std::string energy_text(const EnergyUse& energy, std::uint64_t frames, bool in_full);

/// Changes of schedule in words, a line each.
std::string changes_text(const std::vector<AdaptationChange>& changes);

/// The changes as a list of objects.
Json changes_json(const std::vector<AdaptationChange>& changes);

}  // namespace tidemill::cli
