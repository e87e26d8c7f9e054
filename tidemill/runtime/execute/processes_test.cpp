#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/observe/watchdog.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/testing/child_process.hpp"
#include "tidemill/runtime/testing/each_executor.hpp"

using namespace tidemill;
using namespace tidemill::internal;
using namespace std::chrono_literals;

// The thread sanitizer follows no threads into a forked process.
#ifndef __SANITIZE_THREAD__

namespace {

constexpr int kRefused = 3;

void build(Graph& graph) {
    auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& middle =
        graph.add(task("middle", pure, in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0]; }));
    auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
    graph.chain(source, middle, sink);
}

/// Ends the process with kRefused where the call is refused.
template <class Call>
void refused(Call call) {
    try {
        call();
    } catch (const Error&) {
        _exit(kRefused);
    }
}

template <class Executor, class... Arguments>
int status_of_fork(Graph& graph, Arguments&&... arguments) {
    auto executor = std::make_unique<Executor>(graph, std::forward<Arguments>(arguments)...);
    executor->run({.frames = 3});
    return status_of_child([&] {
        if (executor->resume({.frames = 3}).delivered != 3) _exit(1);
        executor.reset();
    });
}

}  // namespace

TEST_CASE("a forked process can run and destroy the executors that it was given") {
    Graph graph;
    build(graph);
    CHECK(status_of_fork<Sequence>(graph) == 0);
    CHECK(status_of_fork<Pipeline>(graph, thread_per_task(graph)) == 0);
    CHECK(status_of_fork<Dynamic>(graph) == 0);
}

TEST_CASE("a forked process can leave what has threads") {
    Graph graph;
    build(graph);
    auto copies = std::make_unique<Duplicates>(graph, 3);
    copies->run({.frames = 9});
    std::ostringstream text;
    auto journal = std::make_unique<Journal>(text);
    auto watchdog = std::make_unique<Watchdog>(graph, 1h, [](const std::string&) {});
    watchdog->begin_run();
    CHECK(status_of_child([&] {
              watchdog.reset();
              journal.reset();
              copies.reset();
          }) == 0);
}

TEST_CASE("what waits for a run of the process that was forked is refused, and can be left") {
    Graph graph;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{1}, HandOverOptions{.frames = 1});
    auto& outlet = graph.add<Outlet<int>>(std::size_t{1});
    graph.chain(inlet, outlet);
    Pipeline pipeline(graph, thread_per_task(graph));
    auto run = std::make_unique<Started>(pipeline);
    std::vector<int> got(1);
    inlet.push(std::vector<int>{1});
    outlet.pull(got);  // it runs
    CHECK(status_of_child([&] { refused([&] { run->join(); }); }) == kRefused);
    CHECK(status_of_child([&] { refused([&] { pipeline.checkpoint(); }); }) == kRefused);
    CHECK(status_of_child([&] { refused([&] { pipeline.run(); }); }) == kRefused);
    CHECK(status_of_child([&] { refused([&] { outlet.pull(got); }); }) == kRefused);
    CHECK(status_of_child([&] { refused([&] { inlet.push(std::vector<int>(9)); }); }) == kRefused);
    CHECK(status_of_child([&] { run.reset(); }) == 0);
}

namespace {

/// A program whose task calls exit() in a run of static objects.
template <class Executor, class... Arguments>
void exit_in_a_task(Arguments... arguments) {
    static Graph graph;
    build(graph);
    auto& exits = graph.add(task("exits", in<int>("y"), [](auto y) {
        if (y[0] == 3) std::exit(7);
    }));
    graph.bind(graph.module(1)["y"], exits["y"]);
    static CheckpointFile file("/dev/null/none", 1h);
    static Watchdog watchdog(graph, 1h, [](const std::string&) {});
    static Executor executor(graph, arguments...);
    executor.run({.observers = {&watchdog}, .checkpoint = &file});
}

}  // namespace

TEST_CASE("exit() in a task ends the process with its status, also where executor and graph are static") {
    CHECK(status_of_child([] { exit_in_a_task<Sequence>(); }) == 7);
    CHECK(status_of_child([] { exit_in_a_task<Dynamic>(); }) == 7);
    CHECK(status_of_child([] {
              Graph same;
              build(same);
              auto& exits = same.add(task("exits", in<int>("y"), [](auto) {}));
              same.bind(same.module(1)["y"], exits["y"]);
              exit_in_a_task<Pipeline>(thread_per_task(same));
          }) == 7);
}

TEST_CASE("exit() in a task ends a process whose run was started, and one with duplicates") {
    CHECK(status_of_child([] {
              static Graph graph;
              auto& source = graph.add(task("source", out<int>("x"), [](auto) { std::exit(7); }));
              auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
              graph.chain(source, sink);
              static Pipeline pipeline(graph, thread_per_task(graph));
              static Started run(pipeline);
              run.join();
          }) == 7);
    CHECK(status_of_child([] {
              static Graph graph;
              build(graph);
              static Duplicates copies(graph, 3);
              copies.run({.stop_when = [n = 0]() mutable {
                  if (++n == 50) std::exit(7);
                  return false;
              }});
          }) == 7);
}

#endif
