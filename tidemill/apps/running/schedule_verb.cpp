#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/running/app_verbs.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/model/packed_latency.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/device_choice.hpp"
#include "tidemill/scheduling/static/latency.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/scheduling/unequal/known_tasks.hpp"

namespace tidemill::cli {

namespace {

struct ScheduleOptions {
    std::string chain;
    std::string batch;
    std::string kinds;
    ScheduleConfig how;
    bool least_latency = false;
    std::optional<double> most_latency_us{};
    std::string output;
    bool json = false;
};

void say_if_out_of_reach(const Objective& objective, const Schedule& schedule) {
    constexpr double kRounding = 1 + 1e-9;
    if (objective.wanted_period_us && *schedule.period_us > *objective.wanted_period_us * kRounding)
        tell("no schedule reaches a period of {:.2f} us; the best there is has {:.2f} us\n",
             *objective.wanted_period_us, *schedule.period_us);
}

void say_if_too_slow(const std::optional<double>& most_us, const PacedSchedule& least) {
    constexpr double kRounding = 1 + 1e-9;
    if (most_us && least.latency_us > *most_us * kRounding)
        tell("no schedule keeps frames within {:.2f} us; the least there is takes {:.2f} us\n", *most_us,
             least.latency_us);
}

/// A chain's schedule, with all that it was made from.
struct Answer {
    Platform platform;
    CostModel model;
    Objective objective{};
    Schedule schedule{};
    std::optional<PacedSchedule> paced{};  ///< the same, where latency is asked for
    std::string device{};                  ///< why one is used or not; empty: the platform has none
    DistanceToBound distance{};
};

std::optional<PacedSchedule> paced_schedule(const ScheduleOptions& options, const Profile& profile,
                                            const Answer& of) {
    const bool is_packed = options.how.strategy->name == "packed";
    if (options.most_latency_us)
        return (is_packed ? packed_within_latency : within_latency)(*options.most_latency_us, profile,
                                                                    of.platform, of.objective, of.model);
    if (options.least_latency)
        return (is_packed ? packed_least_latency : least_latency)(profile, of.platform, of.objective,
                                                                  of.model);
    return std::nullopt;
}

// The cost of a limit of latency is not what stages leave idle.
void say_what_limit_costs(Answer& made, const ScheduleConfig& how, const Profile& profile) {
    constexpr double kEqual = 1 - 1e-9;
    const Schedule any = how.strategy->schedule(profile, made.platform, made.objective, made.model);
    if (*any.period_us >= made.paced->period_us * kEqual) return;
    made.distance.between = fmt::format("without a limit of latency it would be {:.2f} us", *any.period_us);
    made.distance.stages_us.reset();
}

// Cores that are to be left free do not count in the bound.
Answer answer_on(const Platform& platform, const ScheduleOptions& options, const Profile& profile) {
    const ScheduleConfig& how = options.how;
    Answer made{.platform = platform, .model = model_of(how, profile)};
    made.objective = objective_of(how, profile, made.platform);
    made.paced = paced_schedule(options, profile, made);
    if (made.paced) {
        made.schedule = made.paced->schedule;
    } else {
        DeviceChoice choice =
            choose_device(profile, made.platform, *how.strategy, made.objective, made.model);
        made.schedule = std::move(choice.schedule);
        made.device = std::move(choice.why);
    }
    const double came_to_us =
        made.paced ? made.paced->period_us : period_us(made.schedule, profile, made.model);
    made.distance = distance_to_bound(made.schedule, profile, usable(made.platform, made.objective),
                                      made.model, came_to_us, made.objective.wanted_period_us);
    if (options.most_latency_us) say_what_limit_costs(made, how, profile);
    return made;
}

// The first objective, and the tie-breaker among equals.
std::pair<double, double> less_is_better(const ScheduleOptions& options, const Answer& made) {
    if (made.paced && options.most_latency_us)
        return {std::max(made.paced->latency_us, *options.most_latency_us), made.paced->period_us};
    if (made.paced) return {made.paced->period_us, made.paced->latency_us};
    const double power = made.model.has_power() ? power_w(made.schedule, made.platform, made.model) : 0;
    return {std::max(made.distance.period_us, made.objective.wanted_period_us.value_or(0)), power};
}

// The best of all frequencies that the kinds of cores may have.
Answer answer(const ScheduleOptions& options, const Profile& profile) {
    constexpr double kEqual = 1 - 1e-9;
    std::optional<Answer> best;
    for (const Platform& platform : platforms_of(options.how, profile)) {
        Answer made = answer_on(platform, options, profile);
        const auto [value, among_equals] = less_is_better(options, made);
        const auto [best_value, best_among_equals] =
            best ? less_is_better(options, *best) : std::pair(value, among_equals);
        const bool is_better =
            value < best_value * kEqual || (value * kEqual <= best_value && among_equals < best_among_equals);
        if (!best || is_better) best = std::move(made);
    }
    return *std::move(best);
}

Json latency_json(const PacedSchedule& paced, double alone_us) {
    return {{"us", paced.latency_us},
            {"alone_us", alone_us},
            {"frames_in_flight", paced.frames},
            {"period", paced.period_us}};
}

std::string latency_line(const PacedSchedule& paced, double alone_us) {
    return fmt::format(
        "latency {:.2f} us at most on average, with {} frame{} in flight, one every {:.2f} us; alone "
        "{:.2f}\n",
        paced.latency_us, paced.frames, plural(paced.frames), paced.period_us, alone_us);
}

Json to_json(const Answer& made, const Profile& profile) {
    Json json = result_json(made.schedule, profile, made.platform, made.model);
    json["bound"] = bound_json(made.distance);
    if (!made.device.empty()) json["device"] = made.device;
    if (made.paced)
        json["latency"] = latency_json(*made.paced, latency_us(made.schedule, profile, made.model));
    return json;
}

// A profile does not say which cores of a machine are meant; --kinds does.
std::vector<CoreResource> known_cores(const std::string& kinds) {
    std::error_code none;
    const bool is_model = std::filesystem::is_regular_file(kinds, none);
    const std::string named = is_model ? read_core_kinds(kinds) : kinds;
    return usage_of("--kinds", [&] { return parse_core_kinds(named); });
}

int run_one(const ScheduleOptions& options) {
    const Profile profile = bridge::read_profile_or_factors(options.chain);
    for (const std::string& warning : profile.warnings) warn(warning);
    Answer made = answer(options, profile);
    if (!options.kinds.empty()) made.schedule.resources = known_cores(options.kinds);
    say_if_out_of_reach(made.objective, made.schedule);
    if (made.paced) say_if_too_slow(options.most_latency_us, *made.paced);
    if (!options.output.empty()) writing([&] { write_schedule(made.schedule, options.output); });
    if (options.json) {
        print("{}\n", to_text(to_json(made, profile), 2));
        return kDone;
    }
    print("{}{}", to_table(made.schedule, profile, made.model), made.distance.line());
    if (!made.device.empty()) print("{}\n", made.device);
    if (made.paced) print("{}", latency_line(*made.paced, latency_us(made.schedule, profile, made.model)));
    if (made.model.has_power()) print("power {:.3f} W\n", power_w(made.schedule, made.platform, made.model));
    return kDone;
}

// One result a line out; a line that cannot be used is answered with its error, and the others go on.
int run_lines(const ScheduleOptions& options, std::istream& lines) {
    int status = kDone;
    int number = 0;
    for (std::string line; next_line(lines, line);) {
        ++number;
        const std::string place = fmt::format("{}:{}", options.batch, number);
        Json result{{"line", number}};
        try {
            const Profile profile = parse_profile(line, place);
            result.update(to_json(answer(options, profile), profile));
        } catch (const Error& error) {
            const std::string_view what = error.what();
            result["error"] =
                what.starts_with(place) ? std::string(what) : fmt::format("{}: {}", place, what);
            status = kUnusableInput;
        }
        print("{}\n", to_text(result));
    }
    return status;
}

int run_batch(const ScheduleOptions& options) {
    if (is_standard_stream(options.batch)) return run_lines(options, std::cin);
    std::ifstream file(options.batch);
    if (!file) throw ScheduleError(fmt::format("{}: cannot be opened; check the name", options.batch));
    return run_lines(options, file);
}

int run_schedule(const ScheduleOptions& options) {
    if (options.chain.empty() == options.batch.empty())
        throw WrongUsage("give either a chain file or --batch FILE");
    if (!options.batch.empty() && !options.output.empty())
        throw WrongUsage("-o is for one chain; --batch writes its results to standard output");
    if (options.output.empty() && !options.kinds.empty())
        throw WrongUsage("--kinds is for the schedule file: give -o FILE, too");
    const std::string_view strategy = options.how.strategy->name;
    if ((options.least_latency || options.most_latency_us) && strategy != "herad" && strategy != "packed")
        throw WrongUsage(
            fmt::format("--strategy {} knows of no latencies: leave it out, or give packed", strategy));
    return options.batch.empty() ? run_one(options) : run_batch(options);
}

}  // namespace

void add_schedule(Verb& program) {
    auto options = std::make_shared<ScheduleOptions>();
    Verb& verb = program.verb("schedule", "Find the best schedule of a profiled chain");
    verb.footer(
        "Example: tidemill schedule profile.json -o schedule.json\n"
        "         tidemill schedule data/profiles/dvbs2-rx-opi5.json --objective power --rate 500\n"
        "                           --watts big=1.0,little=0.25\n"
        "         tidemill schedule --batch chains.jsonl --strategy 2catac --json");
    verb.option("chain", options->chain, "Profile, chain or factor file (JSON)").is(Kind::input_file);
    verb.option("--batch", options->batch,
                "File with one chain and its cores in each line (- for standard input); one result a line")
        .is(Kind::input_place);
    add_objective_options(verb, options->how, "--rate,--frame-rate");
    verb.flag("--least-latency", options->least_latency,
              "Of equal periods the schedule on which a frame takes least, and how many are to be in flight; "
              "with --strategy packed, threads may own several stages")
        .excludes("--objective");
    verb.option("--latency-us", options->most_latency_us,
                "The least period at which frames take no longer on average, and how many may be in flight")
        .in(above(0))
        .excludes("--least-latency")
        .excludes("--objective")
        .excludes("--period")
        .excludes("--rate");
    add_machine_options(verb, options->how);
    verb.option("--kinds", options->kinds,
                "Which cores of the machine are of which kind, for the schedule file's node-list: big=0-3,"
                "little=4-7, or a model file of calibrate --kinds")
        .shows("not known: empty lists");
    verb.option("-o,--output", options->output, "Write a schedule file").is(Kind::output_file);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_schedule(*options); });
}

}  // namespace tidemill::cli
