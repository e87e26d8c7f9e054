#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "tidemill/base/json.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/frequencies.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill::cli {

namespace {

struct ParetoOptions {
    std::string profile;
    ScheduleConfig how;
    bool json = false;
};

std::string cores_text(const Schedule& schedule) {
    std::string text;
    for (const auto& [kind, count] : cores_used(schedule))
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", kind, count);
    return text;
}

double millijoules_per_frame(const ParetoPoint& point, const Profile& profile) {
    return 1e3 * point.power_w * 1e-6 * point.period_us / profile.frames_per_execution;
}

// Product of a frame's energy and the time between two frames. The least of all schedules is on the front,
// since it falls with the period and with the power.
double energy_delay_nj_s(const ParetoPoint& point, const Profile& profile) {
    return millijoules_per_frame(point, profile) * point.period_us / profile.frames_per_execution;
}

const ParetoPoint& least_energy_delay(const std::vector<ParetoPoint>& front, const Profile& profile) {
    return *std::ranges::min_element(
        front, {}, [&](const ParetoPoint& point) { return energy_delay_nj_s(point, profile); });
}

std::string table_of(const std::vector<ParetoPoint>& front, const Profile& profile) {
    std::string table = fmt::format("{:>12}  {:>12}  {:>9}  {:>12}  {:>12}  {:>6}  cores\n", "period us",
                                    "frames/s", "power W", "mJ/frame", "nJ s/frame", "stages");
    for (const ParetoPoint& point : front)
        table +=
            fmt::format("{:>12.2f}  {:>12.1f}  {:>9.3f}  {:>12.4f}  {:>12.2f}  {:>6}  {}\n", point.period_us,
                        1e6 * profile.frames_per_execution / point.period_us, point.power_w,
                        millijoules_per_frame(point, profile), energy_delay_nj_s(point, profile),
                        point.schedule.stages.size(), cores_text(point.schedule));
    const ParetoPoint& least = least_energy_delay(front, profile);
    return table + fmt::format("least energy-delay product: {:.2f} nJ s at a period of {:.2f} us\n",
                               energy_delay_nj_s(least, profile), least.period_us);
}

int run_pareto(const ParetoOptions& options) {
    const Profile profile = read_profile(options.profile);
    const std::vector<Platform> platforms = platforms_of(options.how, profile);
    const CostModel model = model_of(options.how, profile);
    if (!model.has_power())
        throw WrongUsage("no power is known: give --watts, for instance big=1.0,little=0.25");
    const std::vector<ParetoPoint> front = pareto_front(profile, platforms, model);
    if (!options.json) {
        print("{}", table_of(front, profile));
        return kDone;
    }
    Json points = Json::array();
    for (const ParetoPoint& point : front) {
        Json told = result_json(point.schedule, profile, platforms.front(), model);
        told["power"] = point.power_w;  // of the platform that it was found on
        told["energy_delay_nj_s"] = energy_delay_nj_s(point, profile);
        points.push_back(std::move(told));
    }
    const double least_us = least_energy_delay(front, profile).period_us;
    print("{}\n", to_text(Json{{"front", points}, {"least_energy_delay_period", least_us}}, 2));
    return kDone;
}

}  // namespace

void add_pareto(Verb& program) {
    auto options = std::make_shared<ParetoOptions>();
    Verb& verb = program.verb(
        "pareto",
        "The Pareto front: all schedules that are faster than any of less or equal power, fastest first");
    verb.alias("front");
    verb.footer(
        "Where a profile weighs kinds at several frequencies, as big@1200 and big@2400, these are a choice.\n"
        "Example: tidemill pareto data/profiles/dvbs2-rx-opi5.json --watts big=1.0,little=0.25");
    verb.option("profile", options->profile, "Profile or chain file (JSON)").is(Kind::input_file).required();
    add_machine_options(verb, options->how);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_pareto(*options); });
}

}  // namespace tidemill::cli
