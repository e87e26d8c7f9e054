#include "tidemill/runtime/execute/ring_depth.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

// Waiting stands in for computing: an instant source, then a stage that takes a millisecond a frame.
void build_waiting(Graph& graph) {
    auto& counter = graph.add<TestCounter>();
    auto& pass = graph.add(
        task("pass", in<std::uint64_t>("x"), out<std::uint64_t>("y"), [](auto x, auto y) { y[0] = x[0]; }));
    auto& slow = graph.add(task("slow", in<std::uint64_t>("x"),
                                [](auto) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }));
    graph.bind(counter.value, pass["x"]);
    graph.bind(pass["y"], slow["x"]);
}

RunReport run_with(std::size_t ring_depth) {
    Graph graph;
    build_waiting(graph);
    return Pipeline(graph, test_schedule({{1, 1}, {1, 2}, {1, 1}}), {.ring_depth = ring_depth})
        .run({.frames = 60});
}

}  // namespace

TEST_CASE("as many frames are on their way as there are tokens for the rings' depth, and never more") {
    constexpr std::uint64_t kFrames = 60;
    for (const std::size_t depth : {1u, 3u, 6u}) {
        const std::uint64_t tokens = 4 + 2 * depth;
        std::atomic<std::uint64_t> begun{0};
        std::uint64_t most_under_way = 0;
        Graph graph;
        auto& source =
            graph.add(task("source", out<std::uint64_t>("x"), [&](auto x) { x[0] = begun.fetch_add(1); }));
        auto& pass = graph.add(task("pass", in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                    [](auto x, auto y) { y[0] = x[0]; }));
        // A frame ends when the source has begun all that may be begun until then.
        auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto x) {
            while (begun < std::min(kFrames, x[0] + tokens)) std::this_thread::yield();
            most_under_way = std::max(most_under_way, begun - x[0]);
        }));
        graph.bind(source["x"], pass["x"]);
        graph.bind(pass["y"], sink["x"]);
        const RunReport report =
            Pipeline(graph, test_schedule({{1, 1}, {1, 2}, {1, 1}}), {.ring_depth = depth})
                .run({.frames = kFrames});
        CHECK(report.segments[0].tokens == tokens);
        CHECK(report.latency.count == kFrames);
        CHECK(most_under_way == tokens);
    }
}

TEST_CASE("the chosen depth keeps the latency that was wanted, in periods of the run that is made with it") {
    const RunReport deep = run_with(10);
    const double wanted_us = 9.5 * deep.period_us();
    const RingDepth chosen = ring_depth_for(wanted_us, deep);
    CHECK(chosen.depth == 2);  // 4 threads + 2 rings of 2 places: 8 tokens
    CHECK(chosen.latency_us == doctest::Approx(8 * deep.period_us()));
    const RunReport again = run_with(chosen.depth);
    CHECK(again.latency.mean_us <= 8 * again.period_us());
}

TEST_CASE("a latency that even the shallowest rings exceed is told, not promised") {
    RunReport report;
    report.elapsed_s = 1;
    report.frames = 1000;
    report.segments = {{6, 0, 4, 2, 1000}};
    const RingDepth chosen = ring_depth_for(2000, report);
    CHECK(chosen.depth == 1);
    CHECK(chosen.latency_us == doctest::Approx(6000));
}

TEST_CASE("segments add up, each at its own period") {
    RunReport report;
    report.elapsed_s = 1;
    report.frames = 100;
    report.segments = {{0, 0, 2, 1, 100}, {0, 0, 3, 2, 1000}};  // 10 ms and 1 ms a frame
    const RingDepth chosen = ring_depth_for(50000, report);
    // 2 * 10 + 3 * 1 ms for the threads, 1 * 10 + 2 * 1 ms per place
    CHECK(chosen.depth == 2);
    CHECK(chosen.latency_us == doctest::Approx(23000 + 2 * 12000));
}

TEST_CASE("one stage has no rings, and any latency but one of nothing may be wanted of it") {
    RunReport report;
    report.elapsed_s = 1;
    report.segments = {{1, 0, 1, 0, 10}};
    CHECK(ring_depth_for(1, report).depth == 1);
    CHECK(ring_depth_for(1, report).latency_us == doctest::Approx(100000));
    CHECK_THROWS_AS(ring_depth_for(0, report), RunError);
    report.segments[0].frames = 0;
    CHECK_THROWS_AS(ring_depth_for(1, report), RunError);
}

TEST_CASE("a profile promises a period, and from that a depth") {
    Profile profile;
    profile.kinds = {"big"};
    profile.tasks = {{"a", false, {100}}, {"b", true, {400}}, {"c", false, {150}}};
    const Schedule schedule = test_schedule({{1, 1}, {1, 2}, {1, 1}});
    const RingDepth chosen = ring_depth_for(3000, schedule, profile);
    CHECK(chosen.depth == 5);  // (3000 / 200 - 4) / 2
    CHECK(chosen.latency_us == doctest::Approx((4 + 2 * 5) * 200));
}

TEST_CASE("a stage on a device holds the batches that are under way, and the next one") {
    Profile profile;
    profile.kinds = {"big", "gpu"};
    profile.tasks = {
        {"a", false, {100, kCannotRun}}, {"b", true, {400, 90}}, {"c", false, {100, kCannotRun}}};
    profile.tasks[1].batches = {{.kind = "gpu", .batch_us = 40, .frame_us = 80, .frames = 0.5}};
    Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}});
    schedule.stages[1].core_kind = "gpu";
    schedule.stages[1].batch = 4;  // of 8 executions
    const RingDepth chosen = ring_depth_for(10000, schedule, profile);
    CHECK(chosen.depth == 28);  // (10000 / 100 - 3 - 5 * 8) / 2
    CHECK(chosen.latency_us == doctest::Approx((3 + 5 * 8 + 2 * 28) * 100));
    CHECK(ring_depth_for(1000, schedule, profile).latency_us == doctest::Approx((3 + 5 * 8 + 2) * 100));
}

TEST_CASE("frames go together where a hop would cost much, as far as the latency allows") {
    // Two stages of 1 us on a thread each: 2 threads and a ring.
    Profile profile;
    profile.kinds = {"big"};
    profile.tasks = {{"a", false, {1}}, {"b", false, {1}}};
    const Schedule schedule = test_schedule({{1, 1}, {1, 1}});
    CHECK(ring_depth_for(1000, schedule, profile).frames == 1);
    const RingDepth roomy = ring_depth_for(1000, schedule, profile, 0.1);
    CHECK(roomy.frames == 10);
    CHECK(roomy.depth == 98);
    CHECK(roomy.latency_us == doctest::Approx(1000));
    const RingDepth tight = ring_depth_for(12, schedule, profile, 0.1);
    CHECK(tight.frames == 4);
    CHECK(tight.depth == 1);
    CHECK(tight.latency_us == doctest::Approx(12));
}
