#include "tidemill/lab/bench/bench_report.hpp"

#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/lab/bench/bench_conditions.hpp"
#include "tidemill/lab/bench/child_program.hpp"
#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

// As Google Benchmark writes it: two cases of our own rounds, one that it repeats itself, one that failed.
constexpr const char* kResults = R"({
  "context": {"num_cpus": 2,
    "hop/ring: question": "What does a hop cost?", "hop/ring: unit": "ns a hop",
    "hop/ring: baseline": "a queue", "hop/ring: published": "others",
    "kernel: question": "How fast?", "kernel: unit": "Mb/s"},
  "benchmarks": [
    {"name": "hop/ring/spinning,_64_B/iterations:1/repeats:1", "run_name": "hop/ring/spinning,_64_B/iterations:1/repeats:1",
     "run_type": "iteration", "iterations": 1, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "ms", "threads": 1,
     "ours": 55.5, "baseline": 111, "ratio": 0.5, "spread_percent": 2.5, "least": 50, "runs": 9,
     "published": 410, "target": 100, "latency_us": 1.25},
    {"name": "hop/ring/asleep/iterations:1/repeats:1", "run_name": "hop/ring/asleep/iterations:1/repeats:1",
     "run_type": "iteration", "iterations": 1, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "ms", "threads": 1,
     "ours": 600, "baseline": 1200, "ratio": 0.5, "spread_percent": 1, "least": 590, "runs": 9},
    {"name": "hop/ring/end/iterations:1/repeats:1", "run_name": "hop/ring/end/iterations:1/repeats:1",
     "run_type": "iteration", "iterations": 1, "cpu_time": 4.0, "time_unit": "ms", "label": "Spinning wins."},
    {"name": "kernel/errors:3", "run_name": "kernel/errors:3", "run_type": "iteration", "iterations": 70,
     "cpu_time": 2.0, "time_unit": "us", "ours": 100, "label": "short 8/9"},
    {"name": "kernel/errors:3", "run_name": "kernel/errors:3", "run_type": "iteration", "iterations": 70,
     "cpu_time": 2.0, "time_unit": "us", "ours": 140, "label": "short 8/9"},
    {"name": "kernel/errors:3", "run_name": "kernel/errors:3", "run_type": "iteration", "iterations": 70,
     "cpu_time": 2.0, "time_unit": "us", "ours": 120, "label": "short 8/9"},
    {"name": "kernel/errors:3_median", "run_name": "kernel/errors:3", "run_type": "aggregate", "ours": 999},
    {"name": "kernel/errors:4", "run_name": "kernel/errors:4", "run_type": "iteration", "iterations": 0,
     "error_occurred": true, "error_message": "the decoder is wrong"},
    {"name": "stamp", "run_name": "stamp", "run_type": "iteration", "iterations": 9, "cpu_time": 23,
     "real_time": 24, "time_unit": "ns"}
  ]})";

}  // namespace

TEST_CASE("bench: cases stand under the question of their family, with the numbers of their counters") {
    const auto groups = read_benchmarks(kResults);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].question == "What does a hop cost?");
    REQUIRE(groups[0].cases.size() == 2);
    const BenchCase& spinning = groups[0].cases[0];
    CHECK(spinning.name == "spinning, 64 B");
    CHECK(spinning.ours == 55.5);
    CHECK(spinning.ratio == 0.5);
    CHECK(spinning.runs == 9);
    CHECK(spinning.published == 410);
    REQUIRE(spinning.more.size() == 1);
    CHECK(spinning.more[0] == std::pair<std::string, double>{"latency_us", 1.25});
    CHECK_FALSE(groups[0].cases[1].target);
}

TEST_CASE("bench: repetitions of a case become one with their median and spread, aggregates do not count") {
    const BenchCase repeated = read_benchmarks(kResults)[1].cases[0];
    CHECK(repeated.name == "short 8/9");
    CHECK(repeated.ours == 120);
    CHECK(repeated.runs == 3);
    CHECK(repeated.least == 100);
    CHECK(*repeated.spread_percent == doctest::Approx(50.0 * (140 - 120) / 120));
    CHECK_FALSE(repeated.ratio);
}

TEST_CASE("bench: a benchmark that asks nothing is shown in the time that it took") {
    const BenchGroup stamp = read_benchmarks(kResults)[2];
    CHECK(stamp.family == "stamp");
    CHECK(stamp.unit == "ns");
    CHECK(stamp.cases[0].ours == 23);
    CHECK_FALSE(stamp.cases[0].spread_percent);  // of a single run
}

TEST_CASE(
    "bench: a group's table names units and baseline, leaves empty columns out and ends with what was "
    "found") {
    const std::string text = to_text(read_benchmarks(kResults));
    CHECK(
        text.starts_with("What does a hop cost?\n"
                         "case            ns a hop  a queue  ratio  +-%  runs  others  target  latency us\n"
                         "spinning, 64 B      55.5      111  0.500  2.5     9     410     100        1.25\n"
                         "asleep             600.0     1200  0.500  1.0     9       -       -           -\n"
                         "Spinning wins.\n"
                         "\n"
                         "How fast?\n"
                         "case       Mb/s"));
    CHECK(text.find("errors 4 failed: the decoder is wrong\n") != std::string::npos);
}

TEST_CASE("bench: JSON has every number of a case under its group") {
    const auto json = nlohmann::json::parse(to_text(to_json(read_benchmarks(kResults))));
    CHECK(json[0]["baseline"] == "a queue");
    CHECK(json[0]["cases"][0] == nlohmann::ordered_json{{"name", "spinning, 64 B"},
                                                        {"ours", 55.5},
                                                        {"baseline", 111.0},
                                                        {"ratio", 0.5},
                                                        {"spread_percent", 2.5},
                                                        {"least", 50.0},
                                                        {"runs", 9},
                                                        {"published", 410.0},
                                                        {"target", 100.0},
                                                        {"latency_us", 1.25}});
    CHECK(json[0]["conclusions"][0] == "Spinning wins.");
    CHECK(json[1]["cases"][1]["error"] == "the decoder is wrong");
}

TEST_CASE("bench: what is not a result is refused") {
    CHECK_THROWS_AS(read_benchmarks("no JSON"), WrongReport);
    CHECK_THROWS_AS(read_benchmarks("[1, 2]"), WrongReport);
    CHECK_THROWS_AS(read_benchmarks("{}"), WrongReport);
    CHECK_THROWS_AS(read_benchmarks(R"({"context": {}, "benchmarks": [1]})"), WrongReport);
}

TEST_CASE("bench: the conditions of this machine are told, and null where they are not known") {
    const BenchConditions here = conditions_here();
    CHECK(here.cores >= 1);
    CHECK_FALSE(here.instruction_set.empty());
    CHECK(*to_json(here).find("cores")->get_if<std::uint64_t>() == here.cores);
    CHECK(to_json(BenchConditions{}).find("commit")->type_name() == "null");
    CHECK(to_text(here).find(here.instruction_set) != std::string::npos);
}

TEST_CASE(
    "bench: alone it lists what there is; a room that is not built, or does not exist, is a failed job") {
    const internal::Ended list = internal::run_program({"bench", "--json"});
    CHECK(list.status == kDone);
    CHECK(nlohmann::json::parse(list.out)["benchmarks"][0] == "waiting");
    const internal::Ended missing = internal::run_program({"bench", "no-such-room"});
    CHECK(missing.status == kJobFailed);
    CHECK(missing.err.find("there is no no-such-room_bench") != std::string::npos);
    CHECK(internal::run_program({"bench", "waiting", "filter"}).status == kWrongUsage);
    const internal::Ended nobody = internal::run_program({"bench", "auto", "no-such-program"});
    CHECK(nobody.status == kWrongUsage);
    CHECK(nobody.err.find("no program's name begins with 'no-such-program'") != std::string::npos);
}

TEST_CASE("child program: lines come as they are written, output, message and status are kept apart") {
    std::vector<std::string> lines;
    const Finished finished = run_child("sh", {"-c", "echo one; echo two; echo oops >&2; exit 3"},
                                        [&](const std::string& line) { lines.push_back(line); });
    CHECK(lines == std::vector<std::string>{"one", "two"});
    CHECK(finished.output == "one\ntwo\n");
    CHECK(finished.message == "oops\n");
    CHECK(finished.status == 3);
    CHECK(run_child("sh", {"-c", "kill -9 $$"}).status == 128 + 9);
    CHECK_THROWS_AS(run_child("/no/such/program", {}), JobFailed);
}

}  // namespace tidemill::cli
