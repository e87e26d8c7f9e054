#include <algorithm>
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

const std::string kProfile = internal::data_folder() + "/profiles/dvbs2-rx-opi5.json";
constexpr const char* kWatts = "big=4.0/0.5,little=1.0/0.1";

Json json_of(const Ended& ended) {
    INFO(ended.err);
    CHECK(ended.status == 0);
    return Json::parse(ended.out);
}

}  // namespace

TEST_CASE("schedule: period, cores, stages and power as JSON") {
    const Json best = json_of(run_program({"schedule", kProfile, "--watts", kWatts, "--json"}));
    CHECK(best["period"].get<double>() == doctest::Approx(3520.53));
    CHECK(best["cores"] == Json{{"big", 4}, {"little", 4}});
    CHECK(best["power"] == 20.0);
    CHECK(best["stages"][3]["kind"] == "big");
    CHECK(best["stages"][3]["cores"] == 2);
    CHECK(best["stages"][3]["tasks"].size() == 2);
    CHECK(best["stages"][3]["weight"] == best["period"]);
}

TEST_CASE("schedule and simulate say the bound, the distance and what stands between in the same words") {
    const ScratchFolder folder;
    const std::string schedule = folder / "schedule.json";
    const std::string cores = "big=2,little=2";
    const std::string profile = internal::data_folder() + "/profiles/dvbs2-rx-x7ti.json";
    const Json best =
        json_of(run_program({"schedule", profile, "--cores", cores, "-o", schedule, "--json"}))["bound"];
    CHECK(best["period"].get<double>() == doctest::Approx(3507).epsilon(1e-4));
    CHECK(best["percent_above"].get<double>() == doctest::Approx(55.5).epsilon(1e-3));
    const auto between = best["what_stands_between"].get<std::string>();
    CHECK(says(between, "no stage of this schedule fits"));
    const std::vector<std::string> simulate{"simulate", schedule, "--profile", profile, "--cores", cores};
    for (const Ended& ended : {run_program({"schedule", profile, "--cores", cores}), run_program(simulate)}) {
        CHECK(says(ended.out, "the period is 55.5 % above it; " + between));
    }
}

TEST_CASE(
    "schedule --strategy mixed: whose turn it is, in words and JSON, in a file that the simulator runs, and "
    "so do threads") {
    const ScratchFolder folder;
    const std::string file = folder / "schedule.json";
    const std::string chain = folder.put(
        "chain.json",
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 2000, "little": 4000}}], "cores": {"big": 1, "little": 1}})");
    const Ended table = run_program({"schedule", chain, "--strategy", "mixed", "-o", file});
    CHECK(says(table.out, "turns of stage 1: big:1 little:1 big:1\nperiod 1333.33 us on 1 big, 1 little\n"));
    const Json best = json_of(run_program({"schedule", chain, "--strategy", "mixed", "--json"}));
    CHECK(best["stages"][0]["kind"] == "big+little");
    CHECK(best["stages"][0]["word"] == Json{"big:1", "little:1", "big:1"});
    CHECK(json_of(run_program({"schedule", chain, "--json"}))["bound"]["stages_period"] == best["period"]);
    const Json simulated = json_of(run_program({"simulate", file, "--profile", chain, "--json"}));
    CHECK(simulated["period"].get<double>() == doctest::Approx(best["period"].get<double>()));
    CHECK(simulated["tokens"] == 3);
    const Json run = json_of(run_program({"run", chain, "--schedule", file, "--frames", "30", "--json"}));
    CHECK(run["delivered"] == 30);
    CHECK(run["predicted_period_us"].get<double>() == doctest::Approx(best["period"].get<double>()));
    CHECK(run["period_us"].get<double>() > 0.95 * best["period"].get<double>());
    CHECK(run["schedule"]["stages"][0]["word"] == best["stages"][0]["word"]);
    CHECK(run["run"]["segments"][0]["tokens"] == 3);
}

TEST_CASE("schedule: the bound counts neither cores that are left free nor periods that nobody wants") {
    const Json all = json_of(run_program({"schedule", kProfile, "--json"}))["bound"];
    const Json fewer =
        json_of(run_program({"schedule", kProfile, "--free", "big=3,little=3", "--json"}))["bound"];
    CHECK(fewer["period"].get<double>() == doctest::Approx(12138).epsilon(1e-4));
    CHECK(all["period"].get<double>() < fewer["period"].get<double>() / 3);
    const Ended slow = run_program({"schedule", kProfile, "--period", "9000"});
    CHECK(says(slow.out, "a period of 9000.00 us was enough"));
}

TEST_CASE(
    "a schedule whose threads own several stages: simulate tells of the threads, rehearse takes their "
    "cores") {
    const ScratchFolder folder;
    const std::string file = folder / "schedule.json";
    const std::string chain = folder.put("chain.json", R"({"tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 600}},
        {"name": "b", "replicable": false, "weight": {"big": 1000}},
        {"name": "c", "replicable": false, "weight": {"big": 400}}]})");
    CHECK(run_program({"schedule", chain, "--strategy", "packed", "--cores", "big=2", "-o", file}).status ==
          0);
    const Ended simulated = run_program({"simulate", file, "--profile", chain});
    CHECK(says(simulated.out, " has stages 1, 3: 1000.00 us a frame, occupied "));
    CHECK(says(simulated.out, "by the schedule's busiest thread 1000.00 us"));
    const Json told = json_of(run_program({"simulate", file, "--profile", chain, "--json"}));
    CHECK(told["threads"][0]["stages"] == Json{1, 3});
    const Json run =
        json_of(run_program({"rehearse", chain, "--schedule", file, "--frames", "30", "--json"}));
    CHECK(run["delivered"] == 30);
}

TEST_CASE("what a schedule does not fit is told with the name of its file") {
    const ScratchFolder folder;
    const std::string file = folder / "of-another.json";
    const std::string chain = folder.put(
        "chain.json",
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 100}}], "cores": {"big": 1}})");
    CHECK(run_program({"schedule", kProfile, "-o", file}).status == 0);
    const std::string wanted = file + ": schedule: stages 1 to ";
    for (const Ended& ended : {run_program({"rehearse", chain, "--schedule", file}),
                               run_program({"simulate", file, "--profile", chain})}) {
        CHECK(ended.status == 3);
        CHECK(says(ended.err, wanted));
    }
}

TEST_CASE("schedule: a slower rate needs less power, and one out of reach gets the best there is") {
    const Json slow = json_of(run_program(
        {"schedule", kProfile, "--watts", kWatts, "--objective", "power", "--rate", "750", "--json"}));
    CHECK(slow["power"] == 13.0);
    const Ended unreachable = run_program({"schedule", kProfile, "--rate", "1e9", "--json"});
    CHECK(json_of(unreachable)["period"].get<double>() == doctest::Approx(3520.53));
    CHECK(says(unreachable.err, "no schedule reaches a period of"));
}

TEST_CASE("schedule --least-latency and --latency-us: frames in flight follow, and the simulator agrees") {
    const ScratchFolder folder;
    const std::string file = folder / "schedule.json";
    const std::string chain = folder.put("chain.json", R"({"cores": {"big": 3, "little": 1}, "tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 10, "little": 20}},
        {"name": "b", "replicable": true, "weight": {"big": 40, "little": 60}},
        {"name": "c", "replicable": false, "weight": {"big": 20, "little": 30}}]})");
    const Ended table = run_program({"schedule", chain, "--least-latency", "-o", file});
    CHECK(says(
        table.out,
        "latency 80.00 us at most on average, with 4 frames in flight, one every 20.00 us; alone 80.00\n"));
    const Json simulated = json_of(
        run_program({"simulate", file, "--profile", chain, "--tokens", "4", "--jitter", "0", "--json"}));
    CHECK(simulated["period"].get<double>() == doctest::Approx(20).epsilon(0.01));
    CHECK(simulated["latency"]["mean"].get<double>() == doctest::Approx(80).epsilon(0.01));
    const Json limited = json_of(run_program({"schedule", chain, "--latency-us", "79", "--json"}));
    CHECK(limited["latency"] ==
          Json{{"us", 70.0}, {"alone_us", 70.0}, {"frames_in_flight", 1}, {"period", 70.0}});
    const Ended out_of_reach = run_program({"schedule", chain, "--latency-us", "69"});
    CHECK(out_of_reach.status == 0);
    CHECK(says(out_of_reach.err, "no schedule keeps frames within 69.00 us; the least there is takes 70.00"));
    CHECK(says(out_of_reach.out, "with 1 frame in flight,"));
    CHECK(says(out_of_reach.out, "% above it; without a limit of latency it would be 20.00 us\nlatency "));
    CHECK_FALSE(says(run_program({"schedule", chain, "--latency-us", "80"}).out, "without a limit"));
    const std::string one = folder / "one.json";
    run_program({"schedule", chain, "--cores", "big=2", "--latency-us", "70", "-o", one});
    CHECK(says(run_program({"simulate", one, "--profile", chain}).out, "with 1 token\n"));
    CHECK(run_program({"schedule", chain, "--latency-us", "80", "--least-latency"}).status == 2);
    CHECK(run_program({"schedule", chain, "--latency-us", "-1"}).status == 2);
    const Ended mixed = run_program({"schedule", chain, "--latency-us", "80", "--strategy", "mixed"});
    CHECK(mixed.status == 2);
    CHECK(says(mixed.err, "--strategy mixed knows of no latencies: leave it out, or give packed"));
}

TEST_CASE(
    "simulate: what sets the period is named, and work that takes no time is no more than was predicted") {
    const ScratchFolder folder;
    const std::string chain = folder.put("chain.json", R"({"tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 10}},
        {"name": "b", "replicable": false, "weight": {"big": 20}}]})");
    const std::string file = folder.put("schedule.json", R"({"frames-in-flight": 1, "schedule": [
        {"tasks": 1, "threads": 1, "core-type": "p-core"}, {"tasks": 1, "threads": 1, "core-type": "p-core"}]})");
    CHECK(says(run_program({"simulate", file, "--profile", chain}).out,
               "by the schedule's frames in flight 30.00 us (+0.0 %)"));
    const std::string nothing = folder.put("nothing.json", R"({"tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 0}},
        {"name": "b", "replicable": false, "weight": {"big": 0}}]})");
    CHECK(says(run_program({"simulate", file, "--profile", nothing}).out, "0.00 us (+0.0 %)"));
}

TEST_CASE("schedule --latency-us --strategy packed: threads with several stages, kept to by the simulator") {
    const ScratchFolder folder;
    const std::string file = folder / "schedule.json";
    const std::string chain = folder.put("chain.json", R"({"cores": {"big": 2}, "tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 30}},
        {"name": "b", "replicable": false, "weight": {"big": 50}},
        {"name": "c", "replicable": false, "weight": {"big": 20}}]})");
    const Json made = json_of(run_program(
        {"schedule", chain, "--latency-us", "110", "--strategy", "packed", "-o", file, "--json"}));
    CHECK(made["latency"]["us"].get<double>() <= 110);
    CHECK(made["latency"]["period"].get<double>() < 56);
    const Json simulated =
        json_of(run_program({"simulate", file, "--profile", chain, "--jitter", "0", "--json"}));
    CHECK(simulated["tokens"] == made["latency"]["frames_in_flight"]);
    CHECK(simulated["period"].get<double>() ==
          doctest::Approx(made["latency"]["period"].get<double>()).epsilon(0.01));
}

TEST_CASE("schedule --batch: a result for each line, and errors that say which line they are for") {
    const ScratchFolder folder;
    const std::string good =
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 6}}], "cores": {"big": 2}})";
    const std::string unknown_kind =
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 6}}], "cores": {"gpu": 2}})";
    const std::string file =
        folder.put("chains.jsonl", good + "\nnonsense\n" + unknown_kind + "\n" + good + "\n");
    const Ended ended = run_program({"schedule", "--batch", file, "--json"});
    CHECK(ended.status == 3);
    std::istringstream lines(ended.out);
    std::vector<Json> results;
    for (std::string line; std::getline(lines, line);) results.push_back(Json::parse(line));
    REQUIRE(results.size() == 4);
    CHECK(results[0]["period"] == 3.0);
    CHECK(results[3]["period"] == 3.0);
    for (const std::size_t wrong : {1, 2}) {
        CHECK(results[wrong]["line"] == wrong + 1);
        CHECK(says(results[wrong]["error"].get<std::string>(), file + ":" + std::to_string(wrong + 1)));
    }
}

TEST_CASE("pareto: each point is slower and draws less than the one before") {
    const Json front = json_of(run_program({"pareto", kProfile, "--watts", kWatts, "--json"}))["front"];
    REQUIRE(front.size() > 5);
    CHECK(front.front()["period"].get<double>() == doctest::Approx(3520.53));
    for (std::size_t i = 1; i < front.size(); ++i) {
        CHECK(front[i]["period"] > front[i - 1]["period"]);
        CHECK(front[i]["power"] < front[i - 1]["power"]);
    }
    CHECK(front.back()["power"] == doctest::Approx(3.3));  // one little core busy, all others idle
}

TEST_CASE("pareto: the least energy-delay product of all points is told") {
    const std::vector<std::string> how{"pareto", kProfile, "--watts", kWatts};
    CHECK(says(run_program(how).out, "least energy-delay product: "));
    const Json told = json_of(run_program({"pareto", kProfile, "--watts", kWatts, "--json"}));
    double least_us = 0;
    double least = 1e300;
    for (const Json& point : told["front"]) {
        const double period_us = point["period"];
        const double product = point["power"].get<double>() * period_us * period_us / 1e3;
        const double frames = product / point["energy_delay_nj_s"].get<double>();
        CHECK(std::sqrt(frames) == doctest::Approx(std::round(std::sqrt(frames))));  // an execution's
        if (product >= least) continue;
        least = product;
        least_us = period_us;
    }
    CHECK(told["least_energy_delay_period"] == least_us);
}

TEST_CASE("pareto: its old name is front, as its help tells") {
    const std::vector<std::string> how{kProfile, "--watts", kWatts};
    const auto with = [&](std::string verb) {
        std::vector<std::string> words = how;
        words.insert(words.begin(), std::move(verb));
        return run_program(words).out;
    };
    CHECK(with("pareto") == with("front"));
    CHECK(run_program({"--help"}).out.find("pareto, front") != std::string::npos);
}

TEST_CASE("a kind's frequencies are a choice of pareto and schedule, and holes are refused") {
    const ScratchFolder folder;
    const auto put = [&](const std::string& slow_b) {
        return folder.put("chain.json", R"({"cores": {"big": 2}, "tasks": [
        {"name": "a", "replicable": false, "weight": {"big@2400": 10, "big@1200": 20}},
        {"name": "b", "replicable": true, "weight": {"big@2400": 30, "big@1200": )" +
                                            slow_b + "}}]}");
    };
    const std::string chain = put("60");
    const std::string power = "big@2400=4/0.4,big@1200=1/0.1";
    const Ended front = run_program({"pareto", chain, "--watts", power});
    CHECK(says(front.out, "  big@1200=2\n"));
    const Json points = json_of(run_program({"pareto", chain, "--watts", power, "--json"}))["front"];
    REQUIRE(points.size() == 4);
    CHECK(points[2]["period"] == 60.0);
    CHECK(points[2]["power"] == 2.0);
    const Json slow = json_of(run_program(
        {"schedule", chain, "--watts", power, "--objective", "power", "--period", "70", "--json"}));
    CHECK(slow["power"] == 2.0);
    CHECK(slow["cores"] == Json{{"big@1200", 2}});
    CHECK(json_of(run_program({"schedule", chain, "--json"}))["period"] == 30.0);
    CHECK(json_of(run_program({"schedule", chain, "--latency-us", "70", "--json"}))["cores"] ==
          Json{{"big@2400", 2}});
    const Json spared = json_of(run_program({"schedule", chain, "--free", "big=1", "--json"}));
    CHECK(spared["period"] == 40.0);
    CHECK(spared["cores"] == Json{{"big@2400", 1}});
    const Ended unnamed = run_program({"schedule", chain, "--free", "big@1200=1"});
    CHECK(unnamed.status == 2);
    CHECK(says(unnamed.err,
               "--free: objective: 1 'big@1200' cores to leave free, but the cores are big@2400=2"));
    const Ended unpowered = run_program({"pareto", chain, "--watts", "big@2400=4"});
    CHECK(unpowered.status == 2);
    CHECK(says(unpowered.err, "cores of kind 'big@1200' have none and would count as free"));
    const Ended hole = run_program({"pareto", put("null"), "--watts", power});
    CHECK(hole.status == 3);
    CHECK(says(hole.err, "task 'b' has a weight on 'big@2400' but none on 'big@1200'"));
}

TEST_CASE("a schedule at one of a kind's frequencies is simulated and rehearsed on such cores") {
    const ScratchFolder folder;
    const std::string file = folder / "schedule.json";
    const std::string chain = folder.put("chain.json", R"({"cores": {"big": 2}, "tasks": [
        {"name": "a", "replicable": false, "weight": {"big@2400": 300, "big@1200": 600}},
        {"name": "b", "replicable": false, "weight": {"big@2400": 500, "big@1200": 1000}}]})");
    CHECK(run_program({"schedule", chain, "--cores", "big@1200=2", "-o", file}).status == 0);
    const Json own = json_of(run_program({"simulate", file, "--profile", chain, "--json"}));
    CHECK(own["period"].get<double>() == doctest::Approx(1000).epsilon(0.001));
    CHECK(run_program({"simulate", file, "--profile", chain, "--cores", "big=3"}).status == 0);
    const Json run =
        json_of(run_program({"rehearse", chain, "--schedule", file, "--frames", "30", "--json"}));
    CHECK(run["delivered"] == 30);
    const Ended open = run_program({"rehearse", chain, "--frames", "30"});
    CHECK(open.status == 2);
    CHECK(says(open.err, "no weights for core kind 'big', only for: big@2400, big@1200"));
}

TEST_CASE("schedule, pareto and simulate: what cannot be used ends with one clear error") {
    const ScratchFolder folder;
    const std::string schedule = folder / "schedule.json";
    CHECK(run_program({"schedule", kProfile, "-o", schedule}).status == 0);
    const std::vector<std::string> simulate{"simulate", schedule, "--profile", kProfile};
    const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    struct Wrong {
        std::vector<std::string> arguments;
        int status;
        std::string_view message;
    };
    for (const Wrong& wrong : std::vector<Wrong>{
             {{"schedule"}, 2, "give either a chain file or --batch FILE"},
             {{"schedule", "no-such-file"}, 3, "no-such-file: cannot open for reading"},
             {{"schedule", kProfile, "--cores", "big"}, 2, "--cores: cores \"big\": 'big' is not KIND=COUNT"},
             {{"schedule", kProfile, "--cores", "big=0"}, 2, "--cores: no cores"},
             {{"schedule", kProfile, "--cores", "gpu=1"},
              2,
              "--cores: the chain has no weights for core kind"},
             {{"schedule", kProfile, "--watts", "gpu=1"},
              2,
              "--watts: the chain has no weights for core kind"},
             {{"schedule", kProfile, "--watts", "big=1,big=2"}, 2, "'big' is there twice"},
             {{"schedule", kProfile, "--watts", "big=1"},
              2,
              "cores of kind 'little' have none and would count as free"},
             {{"schedule", kProfile, "--strategy", "best"}, 2, "--strategy best: give one of "},
             {{"schedule", kProfile, "--free", "big=9"}, 2, "--free: objective: 9 'big' cores to leave free"},
             {{"schedule", kProfile, "--period", "5", "--rate", "5"},
              2,
              "--frame-rate and --period do not go together"},
             {{"schedule", kProfile, "--model", kProfile}, 3, "dvbs2-rx-opi5.json: unknown key"},
             {{"schedule", schedule, "--cores", "big=1"}, 3, "schedule.json: unknown key"},
             {{"pareto", kProfile}, 2, "no power is known: give --watts"},
             {{"pareto", kProfile, "--watts", "big=much"}, 2, "'big=much' is not KIND=BUSY"},
             {with(simulate, {"--watts", "gpu=1"}), 2,
              "--watts: the chain has no weights for core kind 'gpu'"},
             {with(simulate, {"--frequency-drop", "big=1"}), 2, "a share from 0 to below 1"},
             {{"simulate", kProfile, "--profile", kProfile}, 3, "dvbs2-rx-opi5.json: unknown key"}}) {
        CAPTURE(std::string(wrong.message));
        const Ended ended = run_program(wrong.arguments);
        CAPTURE(ended.err);
        CHECK(ended.status == wrong.status);
        CHECK(says(ended.err, wrong.message));
        CHECK(ended.out.empty());
    }
}

TEST_CASE("schedule: whatever is wrong in a chain file, the error names the file and the place") {
    const ScratchFolder folder;
    const auto chain = [](const std::string& first, const std::string& second) {
        return "{\"tasks\": [{\"name\": \"a\", \"replicable\": false, \"weight\": " + first +
               "}, {\"name\": " + second + "}]}";
    };
    const std::string good = "\"b\", \"replicable\": true, \"weight\": {\"big\": 2}";
    struct Wrong {
        std::string text;
        std::string_view place;
        std::string_view message;
    };
    for (const Wrong& wrong : std::vector<Wrong>{
             {chain(R"({"big": -1})", good), ".tasks[0].weight.big", "weight -1 is negative"},
             {chain(R"({"big": NaN})", good), ":1:", "not valid JSON"},
             {chain(R"({"big": 1e999})", good), "", "1e999"},
             {chain(R"({"big": "much"})", good), ".tasks[0].weight.big", "expected a number"},
             {chain("{}", good), ".tasks[0].weight", "no core kinds"},
             {chain(R"({"big": 1})", R"("b", "replicable": true)"), ".tasks[1]", "\"weight\" is missing"},
             {chain(R"({"big": 1, "little": 2})", good), ".tasks[1].weight", "weight on 'little' is missing"},
             {chain(R"({"big": 1})", R"("b", "replicable": true, "weight": {"big": 1, "gpu": 2})"),
              ".tasks[1].weight", "core kind 'gpu' has no weight in the first task"},
             {chain(R"({"big": 1})", R"("a", "replicable": true, "weight": {"big": 2})"), "", "'a'"},
             {chain(R"({"big": 1})", good + R"(, "after": ["a"])"), ".tasks[1]", "unknown key \"after\""},
             {R"({"tasks": []})", "", "no tasks"},
             {R"({"tasks": {"name": "a"}})", ".tasks", "expected a list"},
             {R"([1, 2])", "", "expected an object"},
             {"not JSON at all", ":1:", "not valid JSON"},
             {"", ":1:1", "not valid JSON"}}) {
        CAPTURE(wrong.text);
        const std::string file = folder.put("chain.json", wrong.text);
        const Ended ended = run_program({"schedule", file, "--cores", "big=1"});
        CAPTURE(ended.err);
        CHECK(ended.status == 3);
        CHECK(says(ended.err, file + std::string(wrong.place)));
        CHECK(says(ended.err, wrong.message));
        CHECK(std::ranges::count(ended.err, '\n') == 1);
        CHECK(ended.out.empty());
    }
}

TEST_CASE("simulate takes the model that schedule takes, and settles at the period that it promises") {
    const ScratchFolder folder;
    const std::string model = folder.put("model.json", R"({"hop_us": 40, "kinds":
        {"big": {"busy_w": 4, "slowdown": [1, 1, 1.05, 1.1]}, "little": {"busy_w": 1, "shared_slowdown": 1.7}}})");
    const std::string schedule = folder / "schedule.json";
    const Json promised =
        json_of(run_program({"schedule", kProfile, "--model", model, "-o", schedule, "--json"}));
    const Json simulated =
        json_of(run_program({"simulate", schedule, "--profile", kProfile, "--model", model, "--json"}));
    CHECK(simulated["predicted_period"] == promised["period"]);
    CHECK(simulated["period"].get<double>() <= promised["period"].get<double>() * (1 + 1e-9));
    CHECK(simulated["period"].get<double>() > 0.9 * promised["period"].get<double>());
    CHECK(simulated["power_w"].get<double>() > 0);
}

TEST_CASE("rehearse: in order, a task takes what it takes on the first kind on which it can run") {
    const ScratchFolder folder;
    const std::string chain = folder.put("chain.json", R"({"tasks": [
        {"name": "a", "replicable": false, "weight": {"big": 100, "little": 200}},
        {"name": "b", "replicable": true, "weight": {"big": null, "little": 100}}]})");
    const Json run =
        json_of(run_program({"rehearse", chain, "--executor", "sequence", "--frames", "3", "--json"}));
    CHECK(run["delivered"] == 3);
}

TEST_CASE(
    "rehearse: a chain is rehearsed by its best schedule, and the real period stands beside the predicted") {
    const ScratchFolder folder;
    const std::string chain = folder.put("chain.json", R"({"tasks": [
        {"name": "read", "replicable": false, "weight": {"big": 1000, "little": 2000}},
        {"name": "decode", "replicable": true, "weight": {"big": 6000, "little": 9000}},
        {"name": "write", "replicable": false, "weight": {"big": 500, "little": 500}}]})");
    const Json run =
        json_of(run_program({"rehearse", chain, "--cores", "big=2,little=2", "--frames", "30", "--json"}));
    CHECK(run["delivered"] == 30);
    CHECK(run["predicted_period_us"] == run["schedule"]["period"]);
    CHECK(run["period_us"].get<double>() > 0.95 * run["predicted_period_us"].get<double>());
    CHECK(run["adaptations"].empty());
    CHECK(run["run"]["energy"].contains("not_measured"));
    for (const char* const executor : {"sequence", "threads"})
        CHECK(run_program({"rehearse", chain, "--executor", executor, "--frames", "3", "--stats"}).status ==
              0);
    CHECK(run_program({"rehearse", chain, "--cores", "big=1", "--change", "decode=3"}).status == 2);
    CHECK(run_program({"rehearse", chain, "--cores", "big=1", "--change", "3:encode=3"}).status == 2);
    CHECK(run_program({"rehearse", folder / "nothing.json"}).status == 3);
}

TEST_CASE(
    "run --adapt: a task that becomes slower in mid-stream gets another schedule, and no frame is lost") {
    const ScratchFolder folder;
    const std::string chain = folder.put("chain.json", R"({"cores": {"big": 4}, "tasks": [
        {"name": "read", "replicable": false, "weight": {"big": 2500}},
        {"name": "decode", "replicable": true, "weight": {"big": 15000}},
        {"name": "check", "replicable": true, "weight": {"big": 5000}}]})");
    const Json run = json_of(run_program({"rehearse", chain, "--adapt", "--adapt-every", "0.8", "--change",
                                          "50:check=10.5", "--frames", "200", "--json"}));
    CHECK(run["delivered"] == 200);
    REQUIRE_FALSE(run["adaptations"].empty());
    const Json& first = run["adaptations"][0];
    CHECK(first["frame"] > 50);
    CHECK(first["period_us"].get<double>() < 0.9 * first["period_before_us"].get<double>());
    CHECK(run["run"]["bubbles_us"].size() == run["adaptations"].size());
}

TEST_CASE("schedule: what a run remembers of its tasks is a profile") {
    const ScratchFolder folder;
    const std::string factors = folder.put("factors.json", R"({"version": 1, "unit": "us", "cores": {"big": 1,
        "little": 1}, "known_tasks": [{"name": "a", "kinds": {
          "big": {"time_us": 10, "calls": 90, "quality": "measured"},
          "little": {"time_us": 20, "calls": 90, "quality": "measured"}}},
         {"name": "b", "replicable": true, "kinds": {
          "big": {"time_us": 9, "calls": 90, "quality": "measured"}}}]})");
    const Ended ended = run_program({"schedule", factors, "--json"});
    CHECK(json_of(ended)["period"] == 18.0);
    CHECK(says(ended.err, "b never ran on kind 'little': its time there is an estimate"));
    const std::string old = folder.put("old.json", R"({"version": 0, "known_tasks": []})");
    CHECK(run_program({"schedule", old}).status == 3);
    CHECK(says(run_program({"schedule", old}).err, "old.json.version: version 0 is of an older program"));
}

TEST_CASE("calibrate: what it writes is a model that schedule takes") {
    const ScratchFolder folder;
    const std::string model = folder / "model.json";
    const Ended ended =
        run_program({"calibrate", "--seconds", "0.001", "-o", model, "--energy-meter", "none"});
    CHECK(ended.status == 0);
    CHECK(says(ended.out, "hop us"));
    CHECK(says(ended.out, "not measured: busy_w, idle_w"));
    const std::string chain = folder.put(
        "chain.json", R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 6, "little": 9}}]})");
    CHECK(run_program({"schedule", chain, "--cores", "big=1", "--model", model}).status == 0);
    const Json json = json_of(
        run_program({"calibrate", "--seconds", "0.001", "-o", model, "--energy-meter", "none", "--json"}));
    CHECK(json == Json::parse(ScratchFolder::content_of(model)));
    CHECK(json["hop_us"].get<double>() + json["byte_us"].get<double>() >= 0);
    REQUIRE_FALSE(json["kinds"].empty());
    for (const auto& [kind, measured] : json["kinds"].items()) {
        CAPTURE(std::string(kind));
        CHECK(measured["slowdown"][0] == 1.0);
        CHECK_FALSE(measured.contains("busy_w"));  // without a meter
    }
}

TEST_CASE("calibrate --kinds: the kinds that it measures are in the model, and topo takes them from there") {
    const ScratchFolder folder;
    const std::string model = folder / "model.json";
    const Ended ended =
        run_program({"calibrate", "--kinds", "--seconds", "0.001", "-o", model, "--energy-meter", "none"});
    CHECK(ended.status == 0);
    CHECK(says(ended.out, "core kinds big="));
    const Json written = Json::parse(ScratchFolder::content_of(model));
    CHECK(written["core_kinds"].get<std::string>().starts_with("big="));
    const Json topology = json_of(run_program({"topo", "--kinds", model, "--json"}));
    CHECK(topology["kinds_from"] == model);
    CHECK(topology["kinds"].size() == written["kinds"].size());
}

TEST_CASE("schedule --kinds: the file names the cores, by hand or as calibrate --kinds found them") {
    const ScratchFolder folder;
    const std::string chain = folder.put(
        "chain.json",
        R"({"cores": {"big": 2}, "tasks": [{"name": "a", "replicable": true, "weight": {"big": 4}}]})");
    const std::string model = folder.put("model.json", R"({"core_kinds": "big=core0-1"})");
    const std::string schedule = folder / "schedule.json";
    const auto big_of = [&](const std::string& kinds) {
        CHECK(run_program({"schedule", chain, "--kinds", kinds, "-o", schedule}).status == 0);
        return Json::parse(ScratchFolder::content_of(schedule))["resources"]["p-core"]["node-list"];
    };
    CHECK(big_of("big=0-1") == Json::array({"PU0-1"}));
    CHECK(big_of(model) == Json::array({"core0-1"}));
    CHECK(run_program({"schedule", chain, "--kinds", "big", "-o", schedule}).status == 2);
    CHECK(run_program({"schedule", chain, "--kinds", "big=0"}).status == 2);
}

TEST_CASE("topo: it says which counters the cores have, or why there are none") {
    CHECK(says(run_program({"topo"}).out, "\ncounters\n"));
    const Json topology = json_of(run_program({"topo", "--json"}));
    CHECK(topology.contains("counters") != topology.contains("no_counters"));
}

TEST_CASE("--kinds: a model file that names no kinds, or cores that are not here, is refused") {
    const ScratchFolder folder;
    const std::string plain = folder.put("plain.json", R"({"hop_us": 1})");
    const std::string foreign = folder.put("foreign.json", R"({"core_kinds": "big=0-9999"})");
    const auto refused = [](const std::string& kinds, int status, const char* why) {
        const Ended ended = run_program({"topo", "--kinds", kinds});
        CHECK(ended.status == status);
        CHECK(says(ended.err, why));
    };
    refused(plain, 3, "plain.json: says nothing of kinds of cores; write it by calibrate --kinds");
    refused(foreign, 2, "9999");
    refused("big", 2, "write NAME=NODES");
}

}  // namespace tidemill::cli
