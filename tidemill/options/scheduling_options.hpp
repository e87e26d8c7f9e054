#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/options/command_line.hpp"
#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/schedule_config.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill::cli {

/// Returns what `read` does; what that finds wrong is wrong usage of an option of the command line.
template <class Read>
auto usage_of(std::string_view option, Read read) {
    try {
        return read();
    } catch (const ScheduleError& error) {
        throw WrongUsage(std::string(option) + ": " + error.what());
    }
}

/// All strategies by their names, for an option that chooses one.
std::vector<std::pair<std::string, const Strategy*>> strategy_words();

/// Adds --watts and --model.
void add_model_options(Verb& verb, ScheduleConfig& how);

/// Adds --cores as well, of which a profile may name some.
void add_machine_options(Verb& verb, ScheduleConfig& how);

/// Adds --strategy, --objective, --period, --free, and a wanted rate under the names that are free.
void add_objective_options(Verb& verb, ScheduleConfig& how, const std::string& rate = "--frame-rate");

// Values of these options for a profile; each function throws WrongUsage, naming its option, when that does
// not fit.

/// The cores of --cores, or those that the profile was measured on.
Platform platform_of(const ScheduleConfig& how, const Profile& profile);

/// The same where the profile weighs kinds at several frequencies: one for each combination of them. Throws
/// ScheduleError for weights that leave holes there.
std::vector<Platform> platforms_of(const ScheduleConfig& how, const Profile& profile);

/// The model of --model, of which ScheduleError is thrown, with the watts of --watts.
CostModel model_of(const ScheduleConfig& how, const Profile& profile);

/// Objective of a schedule for these cores.
Objective objective_of(const ScheduleConfig& how, const Profile& profile, const Platform& platform);

/// A schedule as results show it: period, cores, stages, under a model, and the power where one is known.
Json result_json(const Schedule& schedule, const Chain& chain, const Platform& platform,
                 const CostModel& model);

/// How far a period is from what the cores could do, as results show it: bound, percent above it, what stands
/// between.
Json bound_json(const DistanceToBound& distance);

}  // namespace tidemill::cli
