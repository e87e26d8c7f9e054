#include <fstream>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/output.hpp"
#include "tidemill/cli/scheduling_options.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/json/json.hpp"
#include "tidemill/json/text_file.hpp"
#include "tidemill/schedule/profile_file.hpp"
#include "tidemill/schedule/schedule_file.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    std::string chain;
    std::string batch;
    HowToSchedule how;
    std::string output;
    bool json = false;
};

void say_if_out_of_reach(const Objective& objective, const Schedule& schedule) {
    constexpr double kRounding = 1 + 1e-9;
    if (objective.wanted_period_us && *schedule.period_us > *objective.wanted_period_us * kRounding)
        tell("no schedule reaches a period of {:.2f} us; the best there is has {:.2f} us\n",
             *objective.wanted_period_us, *schedule.period_us);
}

int run_one(const Options& options) {
    const Profile profile = read_profile(options.chain);
    const Platform platform = platform_of(options.how, profile);
    const CostModel model = model_of(options.how, profile);
    const Objective objective = objective_of(options.how, profile, platform);
    const Schedule schedule = options.how.strategy->schedule(profile, platform, objective, model);
    say_if_out_of_reach(objective, schedule);
    if (!options.output.empty()) writing([&] { write_schedule(schedule, options.output); });
    if (options.json) {
        print("{}\n", to_text(result_json(schedule, profile, platform, model), 2));
        return kDone;
    }
    print("{}", to_table(schedule, profile, model));
    if (model.has_power()) print("power {:.3f} W\n", power_w(schedule, platform, model));
    return kDone;
}

Json batch_result(const Options& options, const Profile& profile) {
    const Platform platform = platform_of(options.how, profile);
    const CostModel model = model_of(options.how, profile);
    const Schedule schedule = options.how.strategy->schedule(
        profile, platform, objective_of(options.how, profile, platform), model);
    return result_json(schedule, profile, platform, model);
}

// One result a line out; a line that cannot be used is answered with its error, and the others go on.
int run_lines(const Options& options, std::istream& lines) {
    int status = kDone;
    int number = 0;
    for (std::string line; next_line(lines, line);) {
        ++number;
        const std::string place = fmt::format("{}:{}", options.batch, number);
        Json result{{"line", number}};
        try {
            const Profile profile = parse_profile(line, place);
            result.update(batch_result(options, profile));
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

int run_batch(const Options& options) {
    if (is_standard_stream(options.batch)) return run_lines(options, std::cin);
    std::ifstream file(options.batch);
    if (!file) throw ScheduleError(fmt::format("{}: cannot be opened; check the name", options.batch));
    return run_lines(options, file);
}

int run_schedule(const Options& options) {
    if (options.chain.empty() == options.batch.empty())
        throw WrongUsage("give either a chain file or --batch FILE");
    if (!options.batch.empty() && !options.output.empty())
        throw WrongUsage("-o is for one chain; --batch writes its results to standard output");
    return options.batch.empty() ? run_one(options) : run_batch(options);
}

}  // namespace

void add_schedule(Verb& program) {
    auto options = std::make_shared<Options>();
    Verb& verb = program.verb("schedule", "Find the best schedule of a profiled chain");
    verb.footer(
        "Example: tidemill schedule profile.json --cores big=4,little=4 -o schedule.json\n"
        "         tidemill schedule profile.json --objective power --watts big=1.0,little=0.25 --rate 5000\n"
        "         tidemill schedule --batch chains.jsonl --strategy 2catac --json");
    verb.option("chain", options->chain, "Profile or chain file (JSON)").is(Kind::input_file);
    verb.option("--batch", options->batch,
                "File with one chain and its cores in each line (- for standard input); one result a line")
        .is(Kind::input_place);
    add_objective_options(verb, options->how, "--rate,--frame-rate");
    add_machine_options(verb, options->how);
    verb.option("-o,--output", options->output, "Write a schedule file").is(Kind::output_file);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_schedule(*options); });
}

}  // namespace tidemill::cli
