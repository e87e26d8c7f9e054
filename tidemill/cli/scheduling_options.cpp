#include "tidemill/cli/scheduling_options.hpp"

#include <algorithm>

#include "tidemill/cli/schedule_json.hpp"
#include "tidemill/schedule/model_file.hpp"

namespace tidemill::cli {

namespace {

Platform parsed_cores(const std::string& text, const Chain& chain) {
    const Platform platform = parse_platform(text);
    int cores = 0;
    for (const auto& [kind, count] : platform.kinds()) {
        if (count > 0) chain.kind_index(kind);
        cores += count;
    }
    if (cores == 0) throw ScheduleError("no cores; give at least one, for instance \"big=1\"");
    return platform;
}

std::vector<KindModel> parsed_watts(const std::string& text, const Chain& chain) {
    if (text.empty()) return {};
    std::vector<KindModel> watts = parse_watts(text);
    check(Model{.kinds = watts}, chain);
    return watts;
}

}  // namespace

void add_model_options(Verb& verb, MachineOptions& options) {
    verb.option("--watts", options.watts,
                "Power of a core of each kind, busy or busy/idle, e.g. big=1.0/0.1,little=0.25");
    verb.option("--model", options.model,
                "Model file (JSON): costs of stages, hops and bytes, slowdowns, shared cores, watts")
        .is(Kind::input_file);
}

void add_machine_options(Verb& verb, MachineOptions& options) {
    verb.option("--cores", options.cores,
                "Cores that may be used, e.g. big=4,little=4 (those of the profile when it names them)");
    add_model_options(verb, options);
}

Platform platform_of(const MachineOptions& options, const Profile& profile) {
    if (options.cores.empty()) {
        if (profile.cores == Platform{})
            throw WrongUsage(
                "--cores is missing and the profile names none: write for instance --cores big=4");
        return profile.cores;
    }
    return usage_of("--cores", [&] { return parsed_cores(options.cores, profile); });
}

Model model_of(const MachineOptions& options, const Chain& chain) {
    Model model = with_bytes_of(chain, options.model.empty() ? Model{} : read_model(options.model));
    for (const KindModel& watts : usage_of("--watts", [&] { return parsed_watts(options.watts, chain); })) {
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
    const std::vector<double> weights_us = stage_weights_us(schedule, chain, model);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        json["stages"][s]["weight"] = weights_us[s];
        if (schedule.stages[s].shares_core) json["stages"][s]["shares_core"] = true;
    }
    if (model.has_power()) json["power"] = power_w(schedule, platform, model);
    return json;
}

}  // namespace tidemill::cli
