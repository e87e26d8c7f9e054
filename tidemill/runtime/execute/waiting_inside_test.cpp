#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/testing/each_executor.hpp"

using namespace tidemill;
using namespace tidemill::internal;
using namespace std::chrono_literals;

namespace {

/// Place where a call is made.
enum class Place { task, begin, end, stop_when, when_late, observer };
constexpr Place kPlaces[] = {Place::task,      Place::begin,     Place::end,
                             Place::stop_when, Place::when_late, Place::observer};

/// Calls what it is given once, from there, and keeps whether that was refused.
struct Caller final : Module, Observer, ThreadObserver {
    explicit Caller(Place where) : Module("caller"), from(where) {}
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task work = task("work", &Caller::run);

    void begin(const Run&) override { call_from(Place::begin); }
    void end() override { call_from(Place::end); }
    ThreadObserver& watch(const ObservedThread&) override { return *this; }
    void called(const ObservedCall&) override { call_from(Place::observer); }

    void call_from(Place here) {
        if (here != from || calls.exchange(true)) return;
        try {
            call();
        } catch (const RunError& error) {
            refused = std::string(error.what()).find("waits for the run") != std::string::npos;
        }
    }
    RunOptions options(std::uint64_t frames) {
        RunOptions wanted{.frames = frames};
        if (from == Place::stop_when)
            wanted.stop_when = [this] { return call_from(Place::stop_when), false; };
        if (from == Place::observer) wanted.observers = {this};
        if (from == Place::when_late) {
            wanted.deadline = 1ns;
            wanted.when_late = [this](const LateFrame&) { call_from(Place::when_late); };
        }
        return wanted;
    }

    Place from;
    std::function<void()> call{};
    std::atomic<bool> calls{false};
    std::atomic<bool> refused{false};

  private:
    void run(Frame f) {
        call_from(Place::task);
        f[y][0] = f[x][0];
    }
};

}  // namespace

TEST_CASE("a run that asks for its own checkpoint is refused, from wherever it does") {
    for (const Place from : kPlaces) {
        Caller* caller = nullptr;
        const auto build = [&](Graph& graph) {
            auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
            caller = &graph.add<Caller>(from);
            auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
            graph.bind(source["x"], caller->x);
            graph.bind(caller->y, sink["y"]);
        };
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(static_cast<int>(from));
            caller->call = [&] { executor.checkpoint(); };
            CHECK(executor.run(caller->options(5)).delivered == 5);
            CHECK(caller->refused);
            CHECK(executor.checkpoint().next_frames.size() == 1);
        });
    }
}

namespace {

/// inlet -> caller -> outlet, which both have room for one frame.
struct Program {
    explicit Program(Place from) : caller(graph.add<Caller>(from)) { graph.chain(inlet, caller, outlet); }
    Graph graph{};
    Inlet<int>& inlet = graph.add<Inlet<int>>(std::size_t{1}, HandOverOptions{.frames = 1});
    Outlet<int>& outlet = graph.add<Outlet<int>>(std::size_t{1}, HandOverOptions{.frames = 1});
    Caller& caller;
};

void check_refused(Program& program, Started& run) {
    std::vector<int> got(1);
    for (int frame = 0; frame < 3; ++frame) {
        program.inlet.push(std::vector<int>{1});
        CHECK(program.outlet.pull(got) == 1);
    }
    CHECK(run.join().delivered == 3);
    CHECK(program.caller.refused);
}

}  // namespace

TEST_CASE("a run that waits for its own end is refused") {
    for (const Place from : kPlaces) {
        CAPTURE(static_cast<int>(from));
        std::unique_ptr<Started> run;
        std::atomic<bool> is_started = false;
        Program program(from);
        Sequence sequence(program.graph);
        program.caller.call = [&] {
            while (!is_started) std::this_thread::yield();
            run->join();
        };
        run = std::make_unique<Started>(sequence, program.caller.options(3));
        is_started = true;
        check_refused(program, *run);
    }
}

TEST_CASE("a run that waits for its own output is refused") {
    for (const Place from : kPlaces) {
        if (from == Place::end) continue;  // behind the run's end there is nothing to wait for
        CAPTURE(static_cast<int>(from));
        Program program(from);
        Sequence sequence(program.graph);
        std::vector<int> got(1);
        program.caller.call = [&] { program.outlet.pull(got); };
        Started run(sequence, program.caller.options(3));
        check_refused(program, run);
    }
}

TEST_CASE("a task that pushes into its own stream's full inlet is refused, and may try") {
    Graph graph;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{1}, HandOverOptions{.frames = 2});
    std::size_t tried = 0;
    bool refused = false;
    auto& sink = graph.add(task("sink", in<int>("data"), [&](auto) {
        const std::vector<int> some(5, 1);
        tried = std::max(tried, inlet.try_push(some));
        try {
            inlet.push(some);
        } catch (const RunError&) {
            refused = true;
        }
    }));
    graph.chain(inlet, sink);
    inlet.push(std::vector<int>{1});
    CHECK(Sequence(graph).run({.frames = 3}).delivered == 3);
    CHECK(refused);
    CHECK(tried >= 1);
}

TEST_CASE("stop() wakes whoever waits: a push, a pull, a checkpoint and a join") {
    Program program(Place::begin);
    program.caller.calls = true;
    Pipeline pipeline(program.graph, thread_per_task(program.graph));
    Started run(pipeline, {.frames = 1});
    const std::vector<int> many(20, 1);
    std::atomic<int> woken = 0;
    std::thread pushes([&] {
        CHECK_THROWS_AS(program.inlet.push(many), RunError);
        ++woken;
    });
    std::thread checks([&] {
        // The run may not have begun yet.
        CHECK(pipeline.checkpoint().next_frames.size() <= 1);
        ++woken;
    });
    run.stop();
    run.join();
    pushes.join();
    checks.join();
    std::vector<int> got(20);
    CHECK(program.outlet.pull(got) <= 1);
    CHECK(woken == 2);
}

TEST_CASE("the stop token of any run ends the wait of an inlet that starves") {
    Program program(Place::begin);
    program.caller.calls = true;
    std::stop_source stop;
    Sequence sequence(program.graph);
    std::thread stops([&] { stop.request_stop(); });
    CHECK(sequence.run({.stop = stop.get_token()}).delivered == 0);
    stops.join();
}

TEST_CASE("a task that says again for ever hears the stop token") {
    std::stop_source stop;
    std::atomic<int> times = 0;
    const auto build = [&](Graph& graph) {
        auto& source = graph.add(task("source", out<int>("x"), [](auto x) { x[0] = 1; }));
        auto& middle = graph.add(
            task("middle", sequential, may_repeat, in<int>("x"), out<int>("y"), [&](auto x, auto y) {
                y[0] = x[0];
                if (++times == 3000) stop.request_stop();
                return Flow::again;
            }));
        auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
        graph.chain(source, middle, sink);
    };
    under_each_executor(build, [&](Executor& executor, const std::string& name) {
        CAPTURE(name);
        stop = {};
        times = 0;
        CHECK(executor.run({.frames = 1, .stop = stop.get_token()}).frames == 1);
        CHECK(times >= 4000);
    });
}

namespace {

template <class Executor>
void check_stops(const std::function<std::unique_ptr<Executor>(Graph&)>& make) {
    Graph graph;
    std::atomic<bool> runs = false;
    auto& source = graph.add(task("source", out<int>("x"), [&](auto x) {
        runs = true;
        x[0] = 1;
    }));
    auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
    graph.chain(source, sink);
    std::unique_ptr<Executor> executor = make(graph);
    Executor& running = *executor;
    std::uint64_t frames = 0;
    std::thread thread([&] { frames = running.run().frames; });
    while (!runs) std::this_thread::yield();
    executor.reset();
    thread.join();
    CHECK(frames > 0);
}

}  // namespace

TEST_CASE("an executor that is destroyed while it runs stops") {
    check_stops<Sequence>([](Graph& graph) { return std::make_unique<Sequence>(graph); });
    check_stops<Pipeline>(
        [](Graph& graph) { return std::make_unique<Pipeline>(graph, thread_per_task(graph)); });
    check_stops<Dynamic>([](Graph& graph) { return std::make_unique<Dynamic>(graph); });
}
