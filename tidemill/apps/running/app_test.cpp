#include <filesystem>
#include <fstream>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tidemill/apps/running/app_job.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/testing/counted_sum.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/testing/scratch_folder.hpp"

using namespace tidemill;

namespace {

using internal::Count;
using internal::Sum;

App::Outcome build_sum(Graph& graph, int frames) {
    auto& source = graph.add<Count>(frames);
    auto& twice =
        graph.add(task("twice", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = 2 * x[0]; }));
    auto& sum = graph.add<Sum>();
    graph.chain(source, twice, sum);
    return [&sum] { return fmt::format("sum {}", sum.total); };
}

const cli::AppProgram kProgram{"sum", [](Graph& graph) { return build_sum(graph, 1000); }};

cli::AppRunOptions running(RunConfig how, bool stats = false) {
    return {.running = {.how = std::move(how)}, .stats = stats};
}

/// Exit status of a program that is called with these words.
int status(const App& app, std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return app.run(static_cast<int>(words.size()), words.data());
}

struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("tidemill-{}", getpid());
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
};

/// All tasks of the sum on one core, which the schedule names.
Schedule on_core(int number) {
    const std::string kind = Topology::here().kinds[0].name;
    return {.stages = {{0, 3, 1, kind}},
            .resources = {{.kind = kind, .nodes = {{NodeRange::Unit::kCore, number, number}}}}};
}

}  // namespace

TEST_CASE("whatever an App's build function or its outcome throws, the program ends with a status") {
    struct Silent : std::exception {
        const char* what() const noexcept override { return nullptr; }
    };
    const App silent("silent", [](Graph&) { throw Silent(); });
    const App number("number", [](Graph&) { throw 42; });
    const App outcome("outcome", [](Graph& graph) {
        build_sum(graph, 10);
        return []() -> std::string { throw Silent(); };
    });
    for (const App* app : {&silent, &number, &outcome})
        CHECK(status(*app, {"run", "--executor", "sequence"}) == 1);
    for (const App* app : {&silent, &number}) CHECK(status(*app, {"profile"}) == 1);
}

TEST_CASE("app: a program gives the same result in order, by itself and by a schedule file") {
    const Folder folder;
    cli::AppRunOptions options = running({.profile_s = 0.01});
    const cli::AppOutcome automatic = cli::run_app(kProgram, options);
    CHECK(automatic.result == "sum 999000");
    CHECK(automatic.run.delivered == 1000);
    REQUIRE(automatic.schedule);
    CHECK(automatic.predicted_period_us);

    write_schedule(*automatic.schedule, folder / "schedule.json");
    options.running.how.schedule = read_schedule(folder / "schedule.json");
    const cli::AppOutcome scheduled = cli::run_app(kProgram, options);
    CHECK(scheduled.result == "sum 999000");
    CHECK(*scheduled.predicted_period_us == doctest::Approx(*automatic.predicted_period_us));

    options.running.how.executor = ExecutorKind::sequence;
    CHECK_THROWS_AS(cli::run_app(kProgram, options), RunError);
    options.running.how.schedule.reset();
    CHECK(cli::run_app(kProgram, options).result == "sum 999000");
}

TEST_CASE("app: a model in which cuts are dear makes one stage, and the prediction counts with it") {
    const Folder folder;
    write_cost_model({.stage_us = 1000, .hop_us = 1e6}, folder / "model.json");
    const cli::AppOutcome outcome = cli::run_app(
        kProgram,
        running({.scheduling = {.model = read_cost_model(folder / "model.json")}, .profile_s = 0.01}));
    CHECK(outcome.result == "sum 999000");
    REQUIRE(outcome.schedule);
    CHECK(outcome.schedule->stages.size() == 1);
    CHECK(*outcome.predicted_period_us > 1000);
    CHECK(*outcome.predicted_period_us < 1e6);
    const auto json = nlohmann::json::parse(cli::report_json(outcome));
    CHECK(json["schedule"]["period"] == json["predicted_period_us"]);
    CHECK(json["schedule"]["stages"][0]["weight"] == json["predicted_period_us"]);
    const std::string predicted = fmt::format("\nperiod {:.2f} us on ", *outcome.predicted_period_us);
    CHECK(cli::report_text(outcome, true).find(predicted) != std::string::npos);
}

TEST_CASE("app: a limit of frames ends the run, and nothing is timed unless asked for") {
    const cli::AppOutcome plain =
        cli::run_app(kProgram, running({.executor = ExecutorKind::sequence, .frames = 10}));
    CHECK(plain.result == "sum 90");
    CHECK(plain.run.tasks[1].calls.count == 0);
    const cli::AppOutcome timed =
        cli::run_app(kProgram, running({.executor = ExecutorKind::sequence, .frames = 10}, true));
    CHECK(timed.run.tasks[1].calls.count == 10);
}

TEST_CASE("app: the report says frames and result, in words and for machines") {
    const cli::AppOutcome outcome = cli::run_app(kProgram, running({.profile_s = 0.01, .frames = 100}, true));
    const std::string text = cli::report_text(outcome, true);
    CHECK(text.starts_with("sum 9900\nframes     100 begun, 100 delivered, 0 skipped\n"));
    CHECK(text.find("twice.twice") != std::string::npos);
    const auto json = nlohmann::json::parse(cli::report_json(outcome));
    CHECK(json["result"] == "sum 9900");
    CHECK(json["frames"] == 100);
    CHECK(json["schedule"]["period"] == json["predicted_period_us"]);
}

TEST_CASE("app: a thread per task, chosen by forecast, has a report without a predicted schedule") {
    cli::AppOutcome outcome = cli::run_app(kProgram, running({.executor = ExecutorKind::threads}, true));
    REQUIRE(outcome.schedule);
    outcome.profile.emplace();
    outcome.profile->kinds = {"big"};
    for (const std::string& name : outcome.schedule->task_names)
        outcome.profile->tasks.push_back({name, false, {1}});
    CHECK(nlohmann::json::parse(cli::report_json(outcome))["schedule"].is_null());
    CHECK(cli::report_text(outcome, true).find("from the profile") == std::string::npos);
}

TEST_CASE("app: profile writes a file that schedule turns into one that run obeys") {
    const Folder folder;
    const std::string profile = folder / "profile.json";
    const std::string schedule = folder / "schedule.json";
    const App app("sum", kProgram.build);
    CHECK(status(app, {"profile", "--seconds", "0.01", "-o", profile.c_str(), "--json"}) == cli::kDone);
    CHECK(read_profile(profile).tasks[1].name == "twice.twice");
    CHECK(read_profile(profile).tasks[1].replicable);
    CHECK(status(app, {"schedule", profile.c_str(), "--cores", "big=2", "-o", schedule.c_str()}) ==
          cli::kDone);
    CHECK(read_schedule(schedule).task_count() == 3);
}

TEST_CASE("app: own options reach the graph, before or after the verb") {
    std::uint64_t frames = 3;
    bool loud = false;
    std::string last;
    App app("sum", [&](Graph& graph) {
        return [&, tell = build_sum(graph, static_cast<int>(frames))] { return last = tell(); };
    });
    app.about("Adds up numbers.")
        .option("--count", &frames, "Numbers to add")
        .option("--loud", &loud, "Shout");
    CHECK(status(app, {"run", "--executor", "sequence"}) == cli::kDone);
    CHECK(last == "sum 6");
    CHECK(status(app, {"--count", "5", "run", "--executor", "sequence"}) == cli::kDone);
    CHECK(last == "sum 20");
    CHECK(status(app, {"run", "--executor", "sequence", "--count", "6", "--loud"}) == cli::kDone);
    CHECK(last == "sum 30");
    CHECK(loud);
}

TEST_CASE("app: knobs are set by name, and a journal replays them") {
    const Folder folder;
    const std::string journal = folder / "run.jsonl";
    std::string last;
    const App app("amp", [&](Graph& graph) {
        auto& source = graph.add<Count>(10);
        auto& amp = graph.add(task("amp", knob("gain", 1, Range{0, 100}), in<int>("x"), out<int>("y"),
                                   [](int gain, auto x, auto y) { y[0] = gain * x[0]; }));
        auto& sum = graph.add<Sum>();
        graph.chain(source, amp, sum);
        return [&] { return last = fmt::format("sum {}", sum.total); };
    });
    const auto run = [&](std::vector<const char*> words) {
        words.insert(words.begin(), {"run", "--executor", "sequence"});
        return status(app, words);
    };
    CHECK(run({"--set", "amp.gain=0.003k", "--journal", journal.c_str()}) == cli::kDone);
    CHECK(last == "sum 135");
    CHECK(run({"--replay", journal.c_str()}) == cli::kDone);
    CHECK(last == "sum 135");
    CHECK(run({}) == cli::kDone);
    CHECK(last == "sum 45");
    CHECK(run({"--set", "amp.gain=101"}) == cli::kWrongUsage);
    CHECK(run({"--set", "amp.gain"}) == cli::kWrongUsage);
    CHECK(run({"--set", "amp.gian=1"}) == cli::kWrongUsage);
    CHECK(run({"--replay", "no-such-file.jsonl"}) == cli::kUnusableInput);
    CHECK(run({"--replay", journal.c_str(), "--set", "amp.gain=1"}) == cli::kWrongUsage);
    const App other("sum", kProgram.build);
    CHECK(status(other, {"run", "--executor", "sequence", "--replay", journal.c_str()}) ==
          cli::kUnusableInput);
}

TEST_CASE("app: the same command goes on from its checkpoint") {
    const Folder folder;
    const std::string state = folder / "sum.state";
    std::string last;
    const App app("sum", [&](Graph& graph) {
        auto& source = graph.add<Count>(10);
        auto& sum = graph.add<Sum>();
        graph.chain(source, sum);
        return [&] { return last = fmt::format("sum {}", sum.total); };
    });
    const auto run = [&](std::vector<const char*> words) {
        words.insert(words.begin(), {"run", "--executor", "sequence", "--checkpoint", state.c_str()});
        return status(app, words);
    };
    CHECK(run({"--frames", "4"}) == cli::kDone);
    CHECK(last == "sum 6");
    CHECK(run({"--frames", "3"}) == cli::kDone);
    CHECK(last == "sum 21");
    CHECK(run({"--replay", "x"}) == cli::kWrongUsage);
    std::ofstream(state) << "rubbish";
    CHECK(run({}) == cli::kUnusableInput);
    CHECK(ScratchFolder::content_of(state) == "rubbish");
}

TEST_CASE("app: what was dropped and what was late stands in the report") {
    cli::AppRunOptions options = running({.executor = ExecutorKind::threads, .frames = 100});
    options.late = Late::drop_newest;
    options.deadline_s = 1e-9;
    const cli::AppOutcome outcome = cli::run_app(kProgram, options);
    CHECK(outcome.run.delivered + outcome.run.dropped == 100);
    const std::string text = cli::report_text(outcome, false);
    CHECK((text.find("dropped    ") != std::string::npos) == (outcome.run.dropped > 0));
    CHECK(text.find("late       ") != std::string::npos);
    options.running.how.executor = ExecutorKind::dynamic;
    CHECK_THROWS_AS(cli::run_app(kProgram, options), RunError);
}

TEST_CASE("app: exit statuses tell wrong usage, unusable input and failed jobs apart") {
    const App app("sum", [](Graph& graph) { build_sum(graph, 10); });
    CHECK(status(app, {"--help"}) == cli::kDone);
    CHECK(status(app, {"run", "--help"}) == cli::kDone);
    CHECK(status(app, {}) == cli::kWrongUsage);
    CHECK(status(app, {"rnu"}) == cli::kWrongUsage);
    CHECK(status(app, {"run", "--frames", "0"}) == cli::kWrongUsage);
    CHECK(status(app, {"run", "--cores", "big=100000"}) == cli::kWrongUsage);
    CHECK(status(app, {"run", "--schedule", "no-such-file.json"}) == cli::kUnusableInput);
    const Folder folder;
    const std::string elsewhere = folder / "elsewhere.json";
    write_schedule(on_core(99'999), elsewhere);
    CHECK(status(app, {"run", "--schedule", elsewhere.c_str()}) == cli::kUnusableInput);
    const App broken("broken", [](Graph& graph) { graph.add<Sum>(); });
    CHECK(status(broken, {"run", "--executor", "sequence"}) == cli::kJobFailed);
}

TEST_CASE("app: every executor, batch and latency comes to the same result") {
    const std::vector<RunConfig> all{
        {.executor = ExecutorKind::sequence},
        {.executor = ExecutorKind::threads, .replicas = 3},
        {.executor = ExecutorKind::dynamic, .policy = "oldest"},
        {.profile_s = 0.01, .batch = 7},
        {.profile_s = 0.01, .latency_us = 100},
        {.scheduling = {.strategy = &strategy("herad"),
                        .objective = {.among_equals = Preference::kFewestStages}},
         .profile_s = 0.01,
         .waiting = WaitMode::passive},
    };
    for (const RunConfig& how : all) {
        CAPTURE(to_string(how.executor));
        const cli::AppOutcome outcome = cli::run_app(kProgram, running(how));
        CHECK(outcome.result == "sum 999000");
        CHECK(outcome.run.delivered == 1000);
    }
}

TEST_CASE("app: wishes that contradict each other are refused before anything is profiled") {
    for (const RunConfig& how : std::vector<RunConfig>{
             {.executor = ExecutorKind::threads, .latency_us = 100},
             {.executor = ExecutorKind::dynamic, .adapt = true},
             {.executor = ExecutorKind::sequence, .scheduling = {.cores = Platform{.big = 1}}},
             {.executor = ExecutorKind::dynamic, .schedule = Schedule{}},
             {.schedule = Schedule{}, .latency_us = 100},
         })
        CHECK_THROWS_AS(cli::run_app(kProgram, running(how)), RunError);
}

TEST_CASE("app: a core that a schedule names and that is not there is told as the file names it") {
    CHECK_THROWS_WITH_AS(cli::run_app(kProgram, running({.schedule = on_core(99'999)})),
                         doctest::Contains("node-list entry \"core99999\": core99999 is not usable here"),
                         PlatformError);
}

TEST_CASE("app: a schedule that is given can be adapted, and auto comes to the same result") {
    const cli::AppOutcome automatic = cli::run_app(kProgram, running({.executor = ExecutorKind::automatic}));
    CHECK(automatic.result == "sum 999000");
    CHECK(automatic.run.delivered == 1000);
    RunConfig how{.schedule = Schedule{.stages = {{0, 3, 1, Topology::here().kinds[0].name}}},
                  .profile_s = 0.01,
                  .adapt = true};
    const cli::AppOutcome adapted = cli::run_app(kProgram, running(how));
    CHECK(adapted.result == "sum 999000");
    REQUIRE(adapted.profile);
    REQUIRE(adapted.account.forecast);
    CHECK(cli::report_text(adapted, false).find("forecast   predicted ") != std::string::npos);
    const std::string kind = how.schedule->stages[0].core_kind;
    RunConfig on_fewer = how;
    on_fewer.schedule->stages = {{0, 1, 1, kind}, {1, 2, 1, kind}};
    on_fewer.scheduling.cores.emplace().set(kind, 1);
    CHECK_THROWS_WITH_AS(cli::run_app(kProgram, running(on_fewer)), doctest::Contains("uses 2 '"),
                         ScheduleError);
    how.schedule->stages[0].task_count = 2;
    CHECK_THROWS_AS(cli::run_app(kProgram, running(how)), ScheduleError);
}

TEST_CASE("app: what the user wants to see is written, and what cannot be is told before the run") {
    const Folder folder;
    cli::AppRunOptions options = running({.executor = ExecutorKind::threads}, true);
    cli::InsightOptions& insight = options.running.insight;
    insight.trace = folder / "trace.json";
    insight.graph = folder / "graph.svg";
    insight.probes = {"twice.y"};
    insight.watchdog_s = 60;
    cli::run_app(kProgram, options);
    CHECK(std::filesystem::file_size(insight.trace) > 1000);
    CHECK(std::filesystem::file_size(insight.graph) > 1000);

    insight.probes = {"twice.z"};
    CHECK_THROWS_AS(cli::run_app(kProgram, options), cli::WrongUsage);
    insight.trace = folder / "nowhere/trace.json";
    CHECK_THROWS_AS(cli::run_app(kProgram, options), cli::JobFailed);
    insight.trace.clear();
    insight.graph = folder / "graph.png";
    CHECK_THROWS_AS(cli::run_app(kProgram, options), cli::WrongUsage);
}
