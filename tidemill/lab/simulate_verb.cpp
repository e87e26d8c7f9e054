#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "tidemill/base/json.hpp"
#include "tidemill/lab/lab_verbs.hpp"
#include "tidemill/options/per_kind.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/model/schedule_json.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/frequencies.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"

namespace tidemill::cli {

namespace {

struct SimulateOptions {
    std::string schedule;
    std::string profile;
    std::uint64_t frames = 10000;
    std::size_t tokens = 0;
    std::string drop;
    ScheduleConfig known;
    MachineModel machine;
    bool json = false;
};

int cores_used_of(const Schedule& schedule, const std::string& kind) {
    const std::vector<CoreCount> used = cores_used(schedule);
    const auto found = std::ranges::find(used, kind, &CoreCount::kind);
    return found == used.end() ? 0 : found->count;
}

KindCosts& kind_of(CostModel& model, const std::string& name) {
    const auto found = std::ranges::find(model.kinds, name, &KindCosts::kind);
    return found != model.kinds.end() ? *found : model.kinds.emplace_back(KindCosts{.kind = name});
}

void add_drops(CostModel& model, const Schedule& schedule, const std::string& drops) {
    for (const auto& [kind, drop] : parse_per_kind(drops, "--frequency-drop")) {
        if (drop < 0 || drop >= 1) {
            throw WrongUsage("--frequency-drop: a share from 0 to below 1 for each kind");
        }
        kind_of(model, kind).slowdown =
            slowdowns_of(drop, static_cast<std::size_t>(cores_used_of(schedule, kind)));
    }
}

// Cores of the machine, as far as given; where not, at least those that the schedule uses.
Platform cores_of(const SimulateOptions& options, const Schedule& schedule, const Profile& profile) {
    ScheduleConfig known = options.known;
    known.cores = at_frequencies(profile, known.cores.value_or(profile.cores), schedule);
    if (!options.known.cores) return at_least_used(*known.cores, schedule);
    const Platform given = platform_of(known, profile);
    usage_of("--cores", [&] { check(schedule, given); });
    return given;
}

Schedule schedule_for(const Profile& profile, const std::string& file) {
    Schedule schedule = read_schedule(file);
    try {
        check(schedule, profile);
    } catch (const ScheduleError& error) {
        throw ScheduleError(fmt::format("{}: {}", file, error.what()));
    }
    return schedule;
}

// In tenths, so that rounding errors of the simulation leave no sign. Nothing is no more than nothing.
double percent_more(double value, double than) {
    return than > 0 ? std::round(1000 * (value / than - 1)) / 10 + 0.0 : 0.0;
}

// Limit of a schedule with its frames in flight, or of threads that own several stages.
std::string what_sets_period(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    Schedule any = schedule;
    any.frames_in_flight.reset();
    if (period_us(any, chain, model) < period_us(schedule, chain, model)) return "frames in flight";
    return schedule.owners().empty() ? "slowest stage" : "busiest thread";
}

int run_simulate(const SimulateOptions& options) {
    const Profile profile = read_profile(options.profile);
    const Schedule schedule = schedule_for(profile, options.schedule);
    MachineModel machine = options.machine;
    machine.platform = cores_of(options, schedule, profile);
    if (options.tokens > 0) machine.tokens = options.tokens;
    machine.model = model_of(options.known, profile);
    add_drops(machine.model, schedule, options.drop);
    const SimReport report = simulate(model_of(schedule, profile, machine), options.frames);
    const double predicted_us = period_us(schedule, profile, machine.model);
    const DistanceToBound distance =
        distance_to_bound(schedule, profile, machine.platform, machine.model, report.period_us);
    if (options.json) {
        Json json = simulation_json(report, predicted_us, profile);
        json["bound"] = bound_json(distance);
        print("{}\n", to_text(json, 2));
        return kDone;
    }
    print("{}by the schedule's {} {:.2f} us ({:+.1f} %), {:.2f} frames/s\n{}", to_table(report),
          what_sets_period(schedule, profile, machine.model), predicted_us,
          percent_more(report.period_us, predicted_us), 1e6 * profile.frames_per_execution / report.period_us,
          distance.line());
    return kDone;
}

void add_simulation_options(Verb& verb, SimulateOptions& options) {
    verb.option("--hop-latency-us", options.machine.hop_latency_us,
                "Until a frame handed over can be worked on")
        .in(at_least(0));
    verb.option("--jitter", options.machine.jitter, "Relative standard deviation of stage times")
        .in(between(0.0, 100.0));
    verb.option("--seed", options.machine.seed, "Of the jitter");
    verb.option("--frequency-drop", options.drop,
                "Share of speed lost when all used cores of a kind work, e.g. big=0.1,little=0.13");
    verb.option("--ring", options.machine.ring_depth,
                "Frames that may wait at a cut, where the schedule does not say")
        .in(between(1, 1000000));
    verb.option("--tokens", options.tokens, "Frames in flight at most, instead of threads + rings")
        .in(between(1, 1000000))
        .shows("");
}

}  // namespace

void add_simulate(Verb& program) {
    auto options = std::make_shared<SimulateOptions>();
    Verb& verb = program.verb(
        "simulate", "Predict throughput, latency, occupancy and energy of a schedule by simulation");
    verb.footer(
        "Example: tidemill simulate schedule.json --profile profile.json --model model.json --jitter 0.1");
    verb.option("schedule", options->schedule, "Schedule file (JSON)").is(Kind::input_file).required();
    verb.option("--profile", options->profile, "Profile of the same chain (JSON)")
        .is(Kind::input_file)
        .required();
    verb.option("--frames", options->frames, "Executions to simulate").in(between(1, 10000000));
    add_machine_options(verb, options->known);
    add_simulation_options(verb, *options);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_simulate(*options); });
}

}  // namespace tidemill::cli
