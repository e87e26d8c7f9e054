#pragma once

#include <optional>
#include <string>

#include "tidemill/cli/adapting.hpp"
#include "tidemill/cli/app.hpp"
#include "tidemill/cli/insight.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// A user's program.
struct AppProgram {
    std::string name;
    App::Build build;
};

/// The verb `run` of a user's program, as the command line says it.
struct AppRunOptions {
    std::string executor = "pipeline";
    std::string schedule = "auto";  ///< schedule file, or "auto": make one from a profile
    std::string cores{};            ///< for the automatic schedule; empty: all
    std::string strategy = "herad";
    std::string model{};  ///< model file for schedule and prediction; empty: the published model
    double profile_s = 0.5;
    std::uint64_t frames = 0;  ///< 0: until the source stops
    double seconds = 0;        ///< 0: until the source stops
    int replicas = 1;          ///< of each task that may have them, with a thread per task
    std::uint32_t batch = 1;   ///< frames that stages hand over at a time
    double latency_us = 0;     ///< wanted; rings and batch follow from it; 0: not asked for
    AdaptOptions adapt{};
    std::string energy_meter = "auto";  ///< as find_energy_meter() reads it
    InsightOptions insight{};
    bool stats = false;
    bool json = false;
};

/// What a run came to, and how it was done.
struct AppOutcome {
    std::string program;
    std::optional<Profile> profile;
    std::optional<Schedule> schedule;
    Model model;  ///< that the prediction counts with
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    bool interrupted = false;
    std::string result;  ///< what the program itself says

    double period_us() const;
    std::optional<double> predicted_period_us() const;
};

/// Runs a new graph in order on each kind of core that `platform` has, for `seconds` each or until its source
/// stops, and weighs its tasks.
Profile profile_app(const AppProgram& program, const Topology& topology, const Platform& platform,
                    double seconds);

/// Tells on standard error what a run's schedule promises.
void announce(const AppOutcome& outcome);

/// How a graph runs that `outcome` has a schedule for.
struct AppRun {
    PipelineOptions pipeline{};
    Platform cores{};                                ///< for other schedules on the way
    std::function<void(const Schedule&)> changed{};  ///< called after each of these
};

/// Runs a graph as `outcome` says, under the user's eyes, and keeps the accounts there.
void run_graph(Graph& graph, const AppRunOptions& options, const AppRun& how, AppOutcome& outcome);

/// Runs a new graph: profiles and schedules one before, unless told how to run.
AppOutcome run_app(const AppProgram& program, const AppRunOptions& options);

/// The verb's options that do not depend on where the graph comes from.
void add_run_limits(Verb& verb, AppRunOptions& options);

/// The outcome in words, with tables of tasks and stages if asked for.
std::string report_text(const AppOutcome& outcome, bool stats);

/// The outcome as one JSON object.
std::string report_json(const AppOutcome& outcome);

}  // namespace tidemill::cli
