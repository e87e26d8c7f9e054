#include <atomic>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

/// Numbers through four tasks, and how many of them are under way at most.
struct CountedChain {
    CountedChain() {
        auto& count = graph.add(task("count", out<std::uint64_t>("x"), [this](auto x) {
            const int under_way = ++begun - ended;
            if (under_way > most) most = under_way;
            x[0] = next++;
        }));
        auto& first =
            graph.add(task("first", sequential, forward<std::uint64_t>("x"), [](auto x) { ++x[0]; }));
        auto& second = graph.add(task("second", pure, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                      [](auto x, auto y) { y[0] = 2 * x[0]; }));
        auto& keep = graph.add(task("keep", in<std::uint64_t>("y"), [this](auto y) {
            kept.push_back(y[0]);
            ++ended;
        }));
        graph.bind(count["x"], first["x"]);
        graph.bind(first["x"], second["x"]);
        graph.bind(second["y"], keep["y"]);
    }

    Graph graph;
    std::uint64_t next = 0;
    std::atomic<int> begun{0}, ended{0};
    int most = 0;
    std::vector<std::uint64_t> kept;
};

}  // namespace

TEST_CASE("no more frames are in flight than a schedule allows, and they are the same") {
    for (const int frames : {1, 2, 3, 5}) {
        CAPTURE(frames);
        CountedChain chain;
        Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 3}, {1, 1}});
        schedule.frames_in_flight = frames;
        const RunReport report = Pipeline(chain.graph, schedule, {.ring_depth = 4}).run({.frames = 500});
        CHECK(chain.most <= frames);
        REQUIRE(chain.kept.size() == 500);
        for (std::uint64_t frame = 0; frame < 500; ++frame) CHECK(chain.kept[frame] == 2 * (frame + 1));
        std::uint64_t tokens = 0;
        for (const SegmentReport& segment : report.segments) tokens += segment.tokens;
        CHECK(tokens == static_cast<std::uint64_t>(frames));
    }
}

TEST_CASE("threads that own several stages, and threads that wait awake, do with one frame in flight") {
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::active}) {
        CountedChain chain;
        Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}, {1, 1}});
        schedule.stages[0].owners = schedule.stages[2].owners = {1};
        for (std::size_t s = 0; s < 3; ++s) schedule.stages[s].waiting = waiting;
        schedule.frames_in_flight = 1;
        Pipeline(chain.graph, schedule).run({.frames = 200});
        CHECK(chain.most == 1);
        CHECK(chain.kept.size() == 200);
    }
}

TEST_CASE("each segment has a token, however few frames may be in flight") {
    Graph graph;
    build_test_chain(graph);
    Schedule schedule = test_schedule({{1, 1}, {1, 2}, {1, 1}, {1, 1}});
    schedule.frames_in_flight = 1;
    const RunReport report = Pipeline(graph, schedule).run({.frames = 100});
    CHECK(report.delivered == 50);
    REQUIRE(report.segments.size() == 2);
    for (const SegmentReport& segment : report.segments) CHECK(segment.tokens == 1);
}

TEST_CASE("no frame in flight is no schedule") {
    CountedChain chain;
    Schedule schedule = test_schedule({{4, 1}});
    schedule.frames_in_flight = 0;
    CHECK_THROWS_WITH_AS(Pipeline(chain.graph, schedule), "schedule: 0 frames in flight, expected at least 1",
                         ScheduleError);
}
