#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tidemill/cli/command_line.hpp"
#include "tidemill/schedule/model.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// What `schedule`, `front` and `simulate` ask about the machine.
struct MachineOptions {
    std::string cores{};
    std::string watts{};
    std::string model{};
};

/// Adds --watts and --model.
void add_model_options(Verb& verb, MachineOptions& options);

/// Adds --cores as well.
void add_machine_options(Verb& verb, MachineOptions& options);

/// The cores of --cores, or those that the profile was measured on; throws WrongUsage when neither says any,
/// and for --cores of no kind of the profile's.
Platform platform_of(const MachineOptions& options, const Profile& profile);

/// The model of --model with the watts of --watts; throws WrongUsage for watts that cannot be read, and
/// ScheduleError when the model does not fit the chain.
Model model_of(const MachineOptions& options, const Chain& chain);

/// A schedule as results show it: period, cores, stages, under a model, and the power where one is known.
nlohmann::ordered_json result_json(const Schedule& schedule, const Chain& chain, const Platform& platform,
                                   const Model& model);

}  // namespace tidemill::cli
