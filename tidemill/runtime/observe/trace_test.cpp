#include "tidemill/runtime/observe/trace.hpp"

#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

nlohmann::json events_of(const Trace& trace) {
    std::ostringstream text;
    trace.write(text);
    return nlohmann::json::parse(text.str())["traceEvents"];
}

std::map<std::string, std::size_t> counts_by_name(const nlohmann::json& events) {
    std::map<std::string, std::size_t> counts;
    for (const auto& event : events) {
        if (event["ph"] == "X") ++counts[event["name"]];
    }
    return counts;
}

}  // namespace

TEST_CASE("a trace has every call of every task with its frame, on the track of its thread") {
    Graph graph;
    build_test_chain(graph);
    Trace trace;
    Pipeline(graph, test_schedule({{1, 1}, {1, 3}, {2, 1}})).run({.frames = 100, .observers = {&trace}});
    const auto events = events_of(trace);
    const auto counts = counts_by_name(events);
    CHECK(counts.at("counter.next") == 100);
    CHECK(counts.at("twice.twice") == 100);
    CHECK(counts.at("thin.thin") == 100);
    CHECK(counts.at("sink.sink") == 50);
    CHECK(trace.dropped() == 0);

    std::set<int> stages;
    std::set<int> replicas;
    std::set<std::uint64_t> frames;
    for (const auto& event : events) {
        stages.insert(event["pid"].get<int>());
        if (event["ph"] != "X") continue;
        CHECK(event["ts"].get<double>() >= 0);
        CHECK(event["dur"].get<double>() >= 0);
        if (event["name"] != "twice.twice") continue;
        CHECK(event["pid"] == 2);
        replicas.insert(event["tid"].get<int>());
        frames.insert(event["args"]["frame"].get<std::uint64_t>());
    }
    CHECK(stages == std::set<int>{1, 2, 3});
    CHECK(replicas.size() == 3);
    CHECK(frames.size() == 100);
}

TEST_CASE("calls on one thread of a trace do not overlap") {
    Graph graph;
    build_test_chain(graph);
    Trace trace;
    Sequence(graph).run({.frames = 200, .observers = {&trace}});
    double end = 0;
    for (const auto& event : events_of(trace)) {
        if (event["ph"] != "X") continue;
        // Numbers are written with three decimals.
        CHECK(event["ts"].get<double>() >= end - 0.002);
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    CHECK(end > 0);
}

TEST_CASE("a full trace keeps the last events and counts those it dropped") {
    Graph graph;
    build_test_chain(graph);
    Trace trace(16);
    Sequence(graph).run({.frames = 100, .observers = {&trace}});
    CHECK(trace.kept() == 16);
    CHECK(trace.dropped() == 350 - 16);
    std::uint64_t last = 0;
    std::uint64_t first = 1000;
    const auto events = events_of(trace);
    for (const auto& event : events) {
        if (event["ph"] != "X" || event["args"]["segment"] != 0) continue;
        last = std::max(last, event["args"]["frame"].get<std::uint64_t>());
        first = std::min(first, event["args"]["frame"].get<std::uint64_t>());
    }
    CHECK(last == 99);
    CHECK(first >= 94);
    CHECK(events.back()["name"] == "334 events dropped");
}

TEST_CASE("a trace that cannot be kept or written says so") {
    CHECK_THROWS_AS(Trace(0), RunError);
    CHECK_THROWS_WITH(Trace().write(std::filesystem::path("/nowhere/at/all.json")),
                      doctest::Contains("/nowhere/at/all.json"));
}
