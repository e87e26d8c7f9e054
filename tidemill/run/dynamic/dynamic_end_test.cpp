#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/insight/watchdog.hpp"
#include "tidemill/run/run_error.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

TEST_CASE("dynamic: a task that hangs is named while the run is on, and the run can be ended then") {
    Graph graph;
    std::promise<void> released;
    auto& source = graph.add(task("source", TaskOptions{}, out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& stuck = graph.add(task("stuck", TaskOptions{}, in<int>("x"),
                                 [freed = released.get_future().share()](auto) { freed.wait(); }));
    graph.chain(source, stuck);
    std::stop_source stop;
    std::string told;
    Watchdog dog(graph, 20ms, [&](const std::string& text) {
        told = text;
        stop.request_stop();
        released.set_value();
    });
    const RunReport report = Dynamic(graph).run({.stop = stop.get_token(), .observers = {&dog}});
    CHECK(report.frames > 0);
    CHECK(told.find("in stuck.stuck, frame 0") != std::string::npos);
}

TEST_CASE("dynamic: of frames that throw, the first is told, by task and number") {
    Graph graph;
    auto& source =
        graph.add(task("source", TaskOptions{}, out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    auto& check = graph.add(task("check", in<int>("x"), out<int>("y"), [](auto x, auto y) {
        y[0] = x[0];
        if (x[0] >= 7) throw std::runtime_error("seven or more");
    }));
    int delivered = 0;
    auto& sink = graph.add(task("sink", TaskOptions{}, in<int>("x"), [&](auto) { ++delivered; }));
    graph.chain(source, check, sink);
    try {
        Dynamic(graph, {.workers = 4}).run();
        FAIL("nothing was thrown");
    } catch (const RunError& error) {
        CHECK(error.task() == "check.check");
        CHECK(error.frame() == 7);
    }
    CHECK(delivered == 7);
}

TEST_CASE("dynamic: runs go on where the last one ended, with more workers than cores and a window of one") {
    Graph graph;
    int last = -1;
    auto& source =
        graph.add(task("source", TaskOptions{}, out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    auto& sink = graph.add(task("sink", TaskOptions{}, in<int>("x"), [&](auto x) {
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
    auto& source = graph.add(task("source", TaskOptions{}, out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", TaskOptions{}, in<int>("x"), [](auto) {}));
    graph.chain(source, sink);
    CHECK_THROWS_WITH_AS(Dynamic(graph, {.window = {.bytes = 10}}), doctest::Contains("it takes 1, 2 and 64"),
                         GraphError);
    CHECK(Dynamic(graph, {.window = {.bytes = 1000}}).tokens().front() == 15);
    CHECK_THROWS_AS(Dynamic(graph, {.workers = 0}), GraphError);
}
