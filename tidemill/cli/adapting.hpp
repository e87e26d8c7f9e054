#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tidemill/cli/command_line.hpp"
#include "tidemill/run/weigh/adaptation.hpp"

namespace tidemill::cli {

/// Whether and how to change the schedule of a run, as the command line says it.
struct AdaptOptions {
    bool adapt = false;
    double every_s = 1;
    double threshold = 0.1;
};

void add_adapt_options(Verb& verb, AdaptOptions& options);

/// A run, and how its schedule was changed on the way.
struct AdaptedRun {
    RunReport report;
    std::vector<AdaptationChange> changes;
};

/// Runs a pipeline that was made with this schedule for the profile's chain, and keeps it at its optimum
/// while it runs. `changed` is called after each change of schedule.
AdaptedRun run_adapting(Pipeline& pipeline, const Profile& profile, const Schedule& schedule,
                        const AdaptationOptions& how, double every_s, RunOptions run,
                        const std::function<void(const Schedule&)>& changed = {});

/// The changes in words, a line each.
std::string changes_text(const std::vector<AdaptationChange>& changes);

/// The changes as a list of objects.
nlohmann::ordered_json changes_json(const std::vector<AdaptationChange>& changes);

}  // namespace tidemill::cli
