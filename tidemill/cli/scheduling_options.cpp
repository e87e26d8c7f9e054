#include "tidemill/cli/scheduling_options.hpp"

#include <algorithm>

#include "tidemill/cli/schedule_json.hpp"
#include "tidemill/schedule/model_file.hpp"

namespace tidemill::cli {

namespace {

std::vector<KindModel> parsed_watts(const std::string& text) {
    try {
        return parse_watts(text);
    } catch (const ScheduleError& error) {
        throw WrongUsage(std::string("--watts: ") + error.what());
    }
}

}  // namespace

void add_machine_options(CLI::App& verb, MachineOptions& options) {
    verb.add_option("--cores", options.cores,
                    "Cores that may be used, e.g. big=4,little=4 (those of the profile when it names them)");
    verb.add_option("--watts", options.watts,
                    "Power of a core of each kind, busy or busy/idle, e.g. big=1.0/0.1,little=0.25");
    verb.add_option("--model", options.model,
                    "Model file (JSON): costs of stages, hops and bytes, slowdowns, shared cores, watts");
}

Platform platform_of(const MachineOptions& options, const Profile& profile) {
    if (options.cores.empty()) {
        if (profile.cores == Platform{})
            throw WrongUsage(
                "--cores is missing and the profile names none: write for instance --cores big=4");
        return profile.cores;
    }
    try {
        return parse_platform(options.cores);
    } catch (const ScheduleError& error) {
        throw WrongUsage(std::string("--cores: ") + error.what());
    }
}

Model model_of(const MachineOptions& options, const Chain& chain) {
    Model model = options.model.empty() ? Model{} : read_model(options.model);
    for (const KindModel& watts :
         options.watts.empty() ? std::vector<KindModel>{} : parsed_watts(options.watts)) {
        const auto found = std::ranges::find(model.kinds, watts.kind, &KindModel::kind);
        KindModel& kind = found == model.kinds.end() ? model.kinds.emplace_back(watts) : *found;
        kind.busy_w = watts.busy_w;
        kind.idle_w = watts.idle_w;
    }
    check(model, chain);
    return model;
}

nlohmann::ordered_json result_json(const Schedule& schedule, const Chain& chain, const Platform& platform,
                                   const Model& model) {
    nlohmann::ordered_json json = schedule_json(schedule, chain);
    json["period"] = period_us(schedule, chain, model);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        json["stages"][s]["weight"] = stage_weight_us(schedule, s, chain, model);
        if (schedule.stages[s].shares_core) json["stages"][s]["shares_core"] = true;
    }
    if (model.has_power()) json["power"] = power_w(schedule, platform, model);
    return json;
}

}  // namespace tidemill::cli
