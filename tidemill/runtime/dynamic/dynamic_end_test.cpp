#include <atomic>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/observe/testing/hanging_run.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;

TEST_CASE("dynamic: a task that hangs is named while the run is on, and the run can be ended then") {
    const auto [report, told] = internal::run_and_hang(
        [](Graph& graph, const RunOptions& options) { return Dynamic(graph).run(options); });
    CHECK(report.frames > 0);
    CHECK(told.find("in stuck.stuck, frame 0") != std::string::npos);
}

TEST_CASE("dynamic: of frames that throw, the first is told, by task and number") {
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    auto& check = graph.add(task("check", in<int>("x"), out<int>("y"), [](auto x, auto y) {
        y[0] = x[0];
        if (x[0] >= 7) throw std::runtime_error("seven or more");
    }));
    int delivered = 0;
    auto& sink = graph.add(task("sink", in<int>("x"), [&](auto) { ++delivered; }));
    graph.chain(source, check, sink);
    try {
        Dynamic(graph, {.workers = 4}).run();
        FAIL("nothing was thrown");
    } catch (const FrameError& error) {
        CHECK(error.task() == "check.check");
        CHECK(error.frame() == 7);
    }
    CHECK(delivered == 7);
}

TEST_CASE("dynamic: runs go on where the last one ended, with more workers than cores and a window of one") {
    Graph graph;
    int last = -1;
    auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    auto& sink = graph.add(task("sink", in<int>("x"), [&](auto x) {
        CHECK(x[0] == last + 1);
        last = x[0];
    }));
    graph.chain(source, sink);
    Dynamic dynamic(graph, {.workers = 9, .window = {.iterations = 1}});
    CHECK(dynamic.run({.frames = 10}).delivered == 10);
    CHECK(dynamic.resume({.frames = 5}).delivered == 5);
    CHECK(last == 14);
}

TEST_CASE("dynamic: a window without room for a frame is refused, and says what a frame takes") {
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
    graph.chain(source, sink);
    CHECK_THROWS_WITH_AS(Dynamic(graph, {.window = {.bytes = 10}}), doctest::Contains("it takes 1, 2 and 64"),
                         GraphError);
    CHECK(Dynamic(graph, {.window = {.bytes = 1000}}).tokens().front() == 15);
    CHECK_THROWS_AS(Dynamic(graph, {.workers = 0}), GraphError);
}

TEST_CASE("dynamic: a throttle in bytes, tasks or iterations bounds the frames between source and sink") {
    const policy::Window windows[] = {
        {.iterations = 3}, {.tasks = 11}, {.bytes = 1000}, {.iterations = 9, .tasks = 8, .bytes = 700}};
    for (const policy::Window& window : windows) {
        Graph graph;
        std::atomic<int> in_flight{0};
        std::atomic<int> most{0};
        auto& source = graph.add(task("source", out<int>("y", 60), [&](auto) {
            const int now = ++in_flight;
            for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
        }));
        auto& pass = graph.add(task("pass", in<int>("x", 60), out<int>("y"), [](auto, auto) {}));
        auto& sink = graph.add(task("sink", in<int>("x"), [&](auto) { --in_flight; }));
        graph.chain(source, pass, sink);
        Dynamic dynamic(graph, {.workers = 3, .policy = "lifo", .window = window});
        const RunReport report = dynamic.run({.frames = 2000});
        CHECK(report.delivered == 2000);
        CHECK(report.token_bytes() <= window.bytes);
        const std::uint64_t frames = report.segments.front().tokens;
        CHECK(frames <= window.iterations);
        CHECK(3 * frames <= window.tasks);
        CHECK(static_cast<std::uint64_t>(most) <= frames);
        CHECK(frames > 1);
    }
}

TEST_CASE("dynamic: a run that is stopped from elsewhere delivers all frames that it began") {
    for (const std::size_t workers : {1, 4}) {
        Graph graph;
        std::stop_source stop;
        std::uint64_t made = 0;
        std::uint64_t got = 0;
        auto& source = graph.add(task("source", out<int>("y"), [&](auto) {
            if (++made == 1000) stop.request_stop();
        }));
        auto& pass = graph.add(task("pass", in<int>("x"), out<int>("y"), [](auto, auto) {}));
        auto& sink = graph.add(task("sink", in<int>("x"), [&](auto) { ++got; }));
        graph.chain(source, pass, sink);
        const RunReport report = Dynamic(graph, {.workers = workers}).run({.stop = stop.get_token()});
        CHECK(made >= 1000);
        CHECK(got == made);
        CHECK(report.delivered == made);
    }
}

TEST_CASE("dynamic: a graph whose bindings close a circle is refused") {
    Graph graph;
    auto& one = graph.add(task("one", in<int>("x"), out<int>("y"), [](auto, auto) {}));
    auto& other = graph.add(task("other", in<int>("x"), out<int>("y"), [](auto, auto) {}));
    graph.bind(one["y"], other["x"]);
    graph.bind(other["y"], one["x"]);
    CHECK_THROWS_AS(Dynamic{graph}, GraphError);
}
