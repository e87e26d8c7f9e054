#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

Json ran(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "tasks");
    arguments.push_back("--json");
    const Ended ended = run_program(arguments);
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    return Json::parse(ended.out);
}

Json simulated(std::vector<std::string> arguments) {
    arguments.push_back("--simulate");
    return ran(std::move(arguments));
}

}  // namespace

TEST_CASE("tasks: oldest is exhausted by Fig. 4.6a, gpriority is not") {
    const Json oldest = simulated({"fig4.6a", "--policy", "oldest", "--workers", "5"});
    CHECK(oldest["efficiency"].get<double>() == doctest::Approx(5.0 / 9).epsilon(0.01));
    const Json adaptive = simulated({"fig4.6a", "--policy", "gpriority", "--workers", "5"});
    CHECK(adaptive["settled_utilisation"] > 0.95);
}

TEST_CASE("tasks: a window in bytes holds, cores of two speeds are used to their speed") {
    const Json small = simulated({"fm", "--iterations", "200", "--workers", "8", "--window-bytes", "8000"});
    CHECK(small["peak_bytes"] <= 8000);
    const Json cores = simulated(
        {"filterbank", "--iterations", "20", "--cores", "big=2,little=2", "--speeds", "little=0.5"});
    CHECK(cores["workers"] == 4);
    CHECK(cores["efficiency"].get<double>() == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("tasks: a profile's chain comes nearer to the bound where factors place its tasks") {
    const ScratchFolder folder;
    const std::string file = folder / "profile.json";
    std::ofstream(file) << R"({"cores": {"big": 1, "little": 1}, "tasks": [
        {"name": "a", "replicable": true, "weight": {"big": 100, "little": 110}},
        {"name": "b", "replicable": false, "weight": {"big": 50, "little": 60}},
        {"name": "c", "replicable": true, "weight": {"big": 100, "little": 500}}]})";
    const Json placed = simulated({"--profile", file});
    CHECK(placed["percent_above"] < 3);
    CHECK(placed["placing"] == "learned");
    CHECK(placed["cores"] == "big=1,little=1");
    const Json anyhow = simulated({"--profile", file, "--factors", "none"});
    CHECK(anyhow["period"] > placed["period"]);
    CHECK(simulated({"--profile", file, "--cores", "big=2"})["bound"] == 125);
    CHECK(says(run_program({"tasks", "--profile", file, "--noise", "1"}).err, "add --simulate"));
    CHECK(says(run_program({"tasks", "--profile", file, "--work", "waited"}).err, "leave --work out"));
    CHECK(says(run_program({"tasks", "--profile", file, "--cores", "big=999,little=1"}).err,
               "take fewer, or modelled ones"));
    CHECK(run_program({"tasks", "fm", "--simulate", "--profile", file}).status == 2);
    CHECK(run_program({"tasks", "--simulate", "--profile", file, "--cores", "tiny=1"}).status == 3);
    CHECK(run_program({"tasks", "--simulate", "--profile", file, "--speeds", "big=2"}).status == 2);
    CHECK(run_program({"tasks", "--simulate", "--profile", "/nowhere.json"}).status != 0);
}

TEST_CASE("tasks: a profile's chain runs on cores that are made as slow as it says") {
    const ScratchFolder folder;
    const std::string file = folder / "profile.json";
    std::ofstream(file) << R"({"cores": {"little": 1}, "tasks": [
        {"name": "a", "replicable": true, "weight": {"big": 100, "little": 200}},
        {"name": "b", "replicable": false, "weight": {"big": 50, "little": 150}}]})";
    const Json real = ran({"--profile", file, "--iterations", "200"});
    CHECK(real["simulated"] == false);
    CHECK(real["iterations"] == 200);
    CHECK(real["profile_bound"] == 350);
    CHECK(real["bound"] >= 300);  // 150 on a core that is not made slower; beside other work less than 350
    CHECK(real["period"] >= real["bound"]);
    CHECK(real["simulated_period"] > 0);
    const Ended told = run_program({"tasks", "--profile", file, "--iterations", "100", "--factors", "known"});
    CHECK(says(told.out, "checked bit by bit as in order"));
}

TEST_CASE("tasks: a task type that may run on one core only is what all others wait for") {
    std::vector<std::string> arguments{"fig4.8", "--policy", "oldest",        "--iterations",
                                       "500",    "--cores",  "big=1,little=3"};
    CHECK(simulated(arguments)["makespan"] < 600 * 1000.0);
    arguments.insert(arguments.end(), {"--only", "a=big"});
    CHECK(simulated(arguments)["makespan"] >= 500 * 2 * 1000.0);  // a takes two units an iteration
}

TEST_CASE("tasks: the trace has an event for every task, simulated or real") {
    const ScratchFolder folder;
    const std::string file = folder / "trace.json";
    const auto events = [&] {
        std::ifstream trace(file);
        return Json::parse(trace)["traceEvents"].size();
    };
    const Json run = simulated({"cholesky", "--trace", file});
    CHECK(events() == run["tasks"].get<std::size_t>());
    CHECK(ran({"cholesky", "--trace", file})["tasks"] == run["tasks"]);
    CHECK(events() == run["tasks"].get<std::size_t>());
    const Json stream = ran({"fm", "--iterations", "20", "--task-us", "2", "--trace", file});
    CHECK(events() == stream["tasks"].get<std::size_t>());
    const std::string picture = folder / "trace.svg";
    const Json drawn = simulated({"fig4.6a", "--iterations", "2", "--workers", "3", "--trace", picture});
    const std::string svg = ScratchFolder::content_of(picture);
    std::size_t boxes = 0;
    for (std::size_t at = svg.find("<rect x="); at != svg.npos; at = svg.find("<rect x=", at + 1)) ++boxes;
    CHECK(boxes == drawn["tasks"].get<std::size_t>());
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("tasks: real runs compute or wait, on more workers than cores, and say that they were checked") {
    const Json stream = ran({"fft", "--iterations", "30", "--task-us", "2", "--workers", "3"});
    CHECK(stream["simulated"] == false);
    CHECK(stream["as_in_order"] == true);
    CHECK(stream["iterations"] == 30);
    CHECK(stream["latency"]["most"] >= stream["latency"]["mean"]);
    const Json waited = ran({"fig4.8", "--iterations", "4", "--workers", "9", "--work", "waited"});
    CHECK(waited["waits"] == true);
    CHECK(waited["work"] == 4 * 9 * 1000.0);
    CHECK(waited["in_tasks"] >= waited["work"]);
    const Json tiles = ran({"check-lu", "--policy", "crit", "--window-tasks", "100"});
    CHECK(tiles["residual"] < 1e-13);
    CHECK(tiles["peak_tasks"] <= 100);
    const Ended text = run_program({"tasks", "cholesky"});
    CHECK(text.status == 0);
    CHECK(says(text.out, "bit by bit as in order"));
}

TEST_CASE("tasks: alone it lists the programs; what cannot be is refused") {
    CHECK(says(run_program({"tasks"}).out, "channelvocoder"));
    const auto status = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "tasks");
        return run_program(arguments).status;
    };
    CHECK(status({"quicksort", "--simulate"}) == 3);
    CHECK(status({"fm", "--simulate", "--policy", "best"}) == 2);
    CHECK(status({"fm", "--simulate", "--window", "0"}) == 2);
    CHECK(status({"fm", "--simulate", "--cores", "big=2.5"}) == 2);
    CHECK(status({"fm", "--simulate", "--cores", "big=2", "--speeds", "big=0"}) == 2);
    CHECK(status({"fm", "--simulate", "--cores", "big=2", "--speeds", "littel=2"}) == 2);
    CHECK(status({"fm", "--simulate", "--cores", "big=2", "--only", "rr=big"}) == 2);
    CHECK(status({"fm", "--simulate", "--cores", "big=2", "--only", "Amplify=little"}) == 2);
    CHECK(status({"fm", "--simulate", "--window-bytes", "1"}) == 3);
    CHECK(status({"fm", "--simulate", "--trace", "/nowhere/trace.json"}) == 1);
    CHECK(status({"fm", "--simulate", "--work", "waited"}) == 2);
    CHECK(status({"quicksort"}) == 3);
    CHECK(status({"fm", "--policy", "best"}) == 2);
    CHECK(status({"fm", "--noise", "0.1"}) == 2);
    CHECK(status({"fm", "--trace", "/nowhere/trace.json"}) == 1);
    CHECK(status({"fm", "--window-bytes", "1"}) == 2);
    CHECK(status({"cholesky", "--window-bytes", "1000"}) == 2);
}

}  // namespace tidemill::cli
