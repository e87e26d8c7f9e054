#include "tidemill/options/scheduling_options.hpp"

#include <algorithm>

#include "tidemill/base/json.hpp"
#include "tidemill/scheduling/model/schedule_json.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/frequencies.hpp"

namespace tidemill::cli {

std::vector<std::pair<std::string, const Strategy*>> strategy_words() {
    std::vector<std::pair<std::string, const Strategy*>> words;
    for (const Strategy& each : strategies()) words.emplace_back(each.name, &each);
    return words;
}

void add_model_options(Verb& verb, ScheduleConfig& how) {
    verb.parsed("--watts", how.watts, parse_watts,
                "Power of a core of each kind, busy or busy/idle, e.g. big=1.0/0.1,little=0.25");
    verb.file("--model", how.model, read_cost_model,
              "Model file, as calibrate writes it: costs of stages, hops and bytes, slowdowns, shared cores, "
              "watts");
}

namespace {

Platform parse_cores(const std::string& text) {
    const Platform cores = parse_platform(text);
    if (std::ranges::all_of(cores.kinds(), [](const CoreCount& kind) { return kind.count == 0; }))
        throw ScheduleError("no cores; give at least one, for instance big=1");
    return cores;
}

}  // namespace

void add_machine_options(Verb& verb, ScheduleConfig& how) {
    verb.parsed("--cores", how.cores, parse_cores, "Cores that may be used, e.g. big=4,little=4")
        .shows("those that the profile names");
    add_model_options(verb, how);
}

void add_objective_options(Verb& verb, ScheduleConfig& how, const std::string& rate) {
    if (!how.strategy) how.strategy = &strategy("herad");
    verb.choice("--strategy", how.strategy, strategy_words(), "What makes the schedule");
    verb.choice(
        "--objective", how.objective.among_equals,
        {{"cores", Preference::kFewestCores},
         {"power", Preference::kLeastPower},
         {"stages", Preference::kFewestStages}},
        "What decides between equal periods: fewest cores, big ones first, as published; least power, by "
        "--watts; or fewest stages");
    verb.option("--period", how.objective.wanted_period_us, "A period in us up to which all are equal")
        .in(above(0));
    verb.option(rate, how.rate_hz, "The same as a wanted rate, in source frames a second")
        .in(above(0))
        .excludes("--period");
    verb.parsed("--free", how.objective.leave_free, parse_platform, "Cores to leave free, e.g. little=1");
}

namespace {

void require_cores(const ScheduleConfig& how, const Profile& profile) {
    if (!how.cores && profile.cores == Platform{})
        throw WrongUsage("--cores is missing and the profile names none: write for instance --cores big=4");
}

}  // namespace

std::vector<Platform> platforms_of(const ScheduleConfig& how, const Profile& profile) {
    require_cores(how, profile);
    at_each_frequency(profile, how.cores.value_or(profile.cores));
    return usage_of("--cores", [&] { return how.platforms_for(profile); });
}

Platform platform_of(const ScheduleConfig& how, const Profile& profile) {
    require_cores(how, profile);
    return usage_of("--cores", [&] { return how.cores_for(profile); });
}

CostModel model_of(const ScheduleConfig& how, const Profile& profile) {
    ScheduleConfig without_watts = how;
    without_watts.watts.clear();
    without_watts.model_for(profile);
    return usage_of("--watts", [&] { return how.model_for(profile); });
}

Objective objective_of(const ScheduleConfig& how, const Profile& profile, const Platform& platform) {
    const Objective objective = at_frequencies(how.objective_for(profile), platform);
    usage_of("--free", [&] {
        const Platform left = usable(platform, objective);
        if (std::ranges::all_of(left.kinds(), [](const CoreCount& kind) { return kind.count == 0; }))
            throw ScheduleError("all cores are to be left free: keep at least one");
    });
    return objective;
}

Json result_json(const Schedule& schedule, const Chain& chain, const Platform& platform,
                 const CostModel& model) {
    Json json = schedule_json(schedule, chain, model);
    auto& stages = *json["stages"].get_if<Json::Array>();
    for (std::size_t s = 0; s < stages.size(); ++s)
        if (schedule.stages[s].shares_core) stages[s]["shares_core"] = true;
    if (model.has_power()) json["power"] = power_w(schedule, platform, model);
    return json;
}

Json bound_json(const DistanceToBound& distance) {
    Json json{{"period", distance.bound_us},
              {"percent_above", distance.percent()},
              {"what_stands_between", distance.between}};
    if (distance.stages_us) json["stages_period"] = *distance.stages_us;
    return json;
}

}  // namespace tidemill::cli
