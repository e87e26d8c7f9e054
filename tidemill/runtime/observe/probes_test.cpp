#include "tidemill/runtime/observe/probes.hpp"

#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/runtime/observe/debug_print.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using namespace tidemill::internal;

TEST_CASE("probes tell value, frames, rate and latency of outputs and inputs, under every executor") {
    for (const bool pipelined : {false, true}) {
        CAPTURE(pipelined);
        Graph graph;
        build_test_chain(graph);
        Probes probes(graph);
        const Probe& counted = probes.add("counter.value");
        const Probe& doubled = probes.add("twice.y", 2);
        const Probe& sunk = probes.add("sink.x");
        const RunOptions options{.frames = 100, .observers = {&probes}};
        if (pipelined) {
            Pipeline(graph, test_schedule({{1, 1}, {1, 3}, {1, 1}, {1, 1}})).run(options);
        } else {
            Sequence(graph).run(options);
        }
        CHECK(counted.reading().frames == 100);
        CHECK(counted.reading().number == 99);
        CHECK(counted.reading().values<std::uint64_t>() == std::vector<std::uint64_t>{99});
        CHECK(doubled.reading().values<float>() == std::vector<float>{198, 199});
        CHECK(doubled.reading().latency.count == 100);
        CHECK(doubled.reading().rate_hz > 0);
        CHECK(sunk.reading().frames == 50);  // the others were skipped
        CHECK(sunk.reading().number == 49);  // in a segment of its own
        CHECK(sunk.reading().values<float>() == std::vector<float>{196});
        CHECK(sunk.reading().latency.mean_us > 0);
        CHECK(probes.table().find("198 199") != std::string::npos);
    }
}

TEST_CASE("a skipped frame passes inputs of the task that skipped it, not its outputs") {
    Graph graph;
    build_test_chain(graph);
    Probes probes(graph);
    const Probe& before = probes.add("thin.x");
    const Probe& after = probes.add("thin.y");
    Sequence(graph).run({.frames = 11, .observers = {&probes}});
    CHECK(before.reading().frames == 11);
    CHECK(after.reading().frames == 6);
    CHECK(after.reading().values<float>() == std::vector<float>{20});
}

TEST_CASE("probes begin anew with each run") {
    Graph graph;
    build_test_chain(graph);
    Probes probes(graph);
    const Probe& counted = probes.add("counter.value");
    Sequence sequence(graph);
    sequence.run({.frames = 7, .observers = {&probes}});
    sequence.run({.frames = 5, .observers = {&probes}});
    CHECK(counted.reading().frames == 5);
    CHECK(counted.reading().values<std::uint64_t>()[0] == 11);
}

TEST_CASE("a probe on what is not there, and values of another type, are refused by name") {
    Graph graph;
    build_test_chain(graph);
    Probes probes(graph);
    CHECK_THROWS_WITH_AS(probes.add("twice.z"), doctest::Contains("no socket 'twice.z'"), GraphError);
    CHECK_THROWS_WITH_AS(probes.add("twice.z"), doctest::Contains("thin.x"), GraphError);
    const Probe& probe = probes.add("twice.y");
    CHECK_THROWS_WITH_AS(probe.reading().values<int>(),
                         doctest::Contains("twice.y carries float32, not int32"), GraphError);
    Graph looped;
    looped.add<Loop<float>>("loop");
    CHECK_THROWS_WITH_AS(Probes(looped).add("loop.turn"), doctest::Contains("probe what feeds it"),
                         GraphError);
}

TEST_CASE("debug print tells task, frame, flow and sockets, within its limits") {
    Graph graph;
    build_test_chain(graph);
    std::string text;
    DebugPrint debug([&](std::string_view lines) { text += lines; },
                     {.elements = 2, .first_frame = 1, .frames = 2});
    Sequence(graph).run({.frames = 10, .observers = {&debug}});
    CHECK(text.find("twice.twice frame 1, stage 1 thread 1: ok in ") != std::string::npos);
    CHECK(text.find("    in  x (uint64 x 1): 1\n    out y (float32 x 3): 2 3 ...\n") != std::string::npos);
    CHECK(text.find("thin.thin frame 1, stage 1 thread 1: skip in ") != std::string::npos);
    CHECK(text.find("    in  x (float32 x 3): 4 5 ...\n    out y (float32 x 1): 4\n") != std::string::npos);
    CHECK(text.find("frame 0") == std::string::npos);
    CHECK(text.find("frame 3") == std::string::npos);
}

TEST_CASE("debug print of one task alone, from three threads, gives whole lines") {
    Graph graph;
    build_test_chain(graph);
    std::vector<std::string> calls;
    DebugPrint debug([&](std::string_view lines) { calls.emplace_back(lines); },
                     {.elements = 0, .only = "twice"});
    Pipeline(graph, test_schedule({{1, 1}, {1, 3}, {2, 1}})).run({.frames = 60, .observers = {&debug}});
    REQUIRE(calls.size() == 60);
    for (const std::string& call : calls) {
        CHECK(call.starts_with("twice.twice frame "));
        CHECK(call.find("y (float32 x 3): ...\n") != std::string::npos);
    }
}
