#include "tidemill/runtime/observe/live_view.hpp"

#include <cstring>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

const LiveTimes::TaskTime& task_named(const LiveTimes& times, std::string_view name) {
    for (const auto& task : times.tasks)
        if (task.name == name) return task;
    throw GraphError("no such task");
}

float first_number(const std::vector<std::byte>& bytes) {
    float number = 0;
    REQUIRE(bytes.size() >= sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

}  // namespace

TEST_CASE("live view: a socket is copied once for each time that somebody asked, under every executor") {
    for (const bool pipelined : {false, true}) {
        CAPTURE(pipelined);
        Graph graph;
        build_test_chain(graph);
        LiveView view(graph);
        const std::size_t doubled = view.add("twice.y", 2);
        const auto run = [&](std::uint64_t frames) {
            const RunOptions options{.frames = frames, .observers = {&view}};
            if (pipelined) {
                Pipeline(graph, test_schedule({{1, 1}, {1, 3}, {1, 1}, {1, 1}})).run(options);
            } else {
                Sequence(graph).run(options);
            }
        };
        run(10);
        CHECK(view.content(doubled).empty());
        view.ask();
        run(10);
        CHECK(view.content(doubled).size() == 2 * sizeof(float));
        const float seen = first_number(view.content(doubled));
        if (!pipelined) CHECK(seen == 20);  // ten frames had passed before
        run(10);
        CHECK(first_number(view.content(doubled)) == seen);
    }
}

TEST_CASE("live view: what a task skips is not copied, and waits for the next frame that has it") {
    Graph graph;
    build_test_chain(graph);
    LiveView view(graph);
    const std::size_t thinned = view.add("thin.y", 1);
    view.ask();
    Sequence(graph).run({.frames = 5, .observers = {&view}});
    CHECK(view.content(thinned).size() == sizeof(float));
}

TEST_CASE("live view: calls are counted by task, and threads by stage of the last schedule") {
    Graph graph;
    build_test_chain(graph);
    LiveView view(graph);
    Pipeline(graph, test_schedule({{1, 1}, {1, 3}, {1, 1}, {1, 1}}))
        .run({.frames = 100, .observers = {&view}});
    const LiveTimes first = view.times();
    CHECK(task_named(first, "counter.next").calls == 100);
    REQUIRE(first.stages.size() == 4);
    CHECK(first.stages[1].threads == 3);
    Pipeline(graph, test_schedule({{2, 1}, {2, 1}})).run({.frames = 50, .observers = {&view}});
    const LiveTimes second = view.times();
    CHECK(second.stages.size() == 2);
    const LiveTimes more = second.since(first);
    CHECK(task_named(more, "counter.next").calls == 50);
    CHECK(more.elapsed_us > 0);
    CHECK(more.report().tasks.size() == second.tasks.size());
}

TEST_CASE("live view: a socket that is not there is an error that names it") {
    Graph graph;
    build_test_chain(graph);
    LiveView view(graph);
    CHECK_THROWS_WITH_AS(view.add("twice.z", 1), doctest::Contains("'twice.z'"), GraphError);
}
