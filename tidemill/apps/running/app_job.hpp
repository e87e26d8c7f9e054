#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/running/app.hpp"
#include "tidemill/apps/running/checkpointed_run.hpp"
#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/runtime/stream/journal.hpp"

namespace tidemill::cli {

/// A user's program.
struct AppProgram {
    std::string name;
    App::Build build;
};

/// The verb `run` of a user's program, as the command line says it.
struct AppRunOptions {
    RunningOptions running{};
    bool stats = false;
    bool json = false;
    std::vector<std::string> set{};  ///< knobs, as knob_settings() reads them
    std::string journal{};           ///< file to write; empty: none
    std::optional<JournalRecord> replay{};
    CheckpointOptions checkpoint{};
    Late late = Late::wait;
    double deadline_s = 0;  ///< 0: none
};

/// Result of a run, and how it was done.
struct AppOutcome {
    std::string program;
    ExecutorKind executor{};
    std::optional<Profile> profile;
    std::optional<Schedule> schedule;
    CostModel model{};  ///< by which the profile predicts
    std::optional<double> predicted_period_us;
    RunAccount account{};
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    bool interrupted = false;
    std::string result;  ///< what the program itself says

    double period_us() const;
};

/// Profiles the program's tasks, with a new graph for each kind of cores.
Profile profile_app(const AppProgram& program, const Topology& topology, const ProfileOptions& how);

/// Result of a graph's run.
AppOutcome outcome_of(std::string program, const GraphRun& run, const WatchedRun& watched);

/// Runs a new graph: profiles and schedules one before, unless the options say how to run.
AppOutcome run_app(const AppProgram& program, const AppRunOptions& options);

/// Adds --stats and --json, and all that says how a graph runs.
void add_run_options(Verb& verb, AppRunOptions& options);

/// Adds --set, --journal, --replay, --checkpoint and what is late.
void add_knob_options(Verb& verb, AppRunOptions& options);

/// The outcome in words, with tables of tasks and stages if asked for.
std::string report_text(const AppOutcome& outcome, bool stats);

/// The outcome as one JSON object.
std::string report_json(const AppOutcome& outcome);

}  // namespace tidemill::cli
