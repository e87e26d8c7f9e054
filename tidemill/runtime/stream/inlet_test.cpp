#include "tidemill/runtime/stream/inlet.hpp"

#include <array>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

namespace {

/// Doubles what it is given, times a knob.
struct Doubler {
    explicit Doubler(const HandOverOptions& options = {})
        : inlet(graph.add<Inlet<int>>(std::size_t{4}, options)),
          outlet(graph.add<Outlet<int>>(std::size_t{4}, options)) {
        auto& twice = graph.add(
            task("twice", knob("gain", 1), in<int>("x", 4), out<int>("y", 4), [](int factor, auto x, auto y) {
                for (std::size_t i = 0; i < 4; ++i) y[i] = 2 * factor * x[i];
            }));
        graph.bind(inlet["data"], twice["x"]);
        graph.bind(twice["y"], outlet["data"]);
        gain = twice.find_knob<int>("gain");
    }
    Graph graph{};
    Inlet<int>& inlet;
    Outlet<int>& outlet;
    Knob<int> gain{};
};

std::vector<int> numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// In pieces of many sizes.
void push_in_pieces(Inlet<int>& inlet, std::span<const int> all) {
    for (std::size_t size = 1; !all.empty(); size = size % 11 + 1) {
        const std::size_t part = std::min(size, all.size());
        inlet.push(all.first(part));
        all = all.subspan(part);
    }
}

std::vector<int> pull_all(Outlet<int>& outlet) {
    std::vector<int> got;
    std::array<int, 7> part{};
    while (const std::size_t count = outlet.pull(part))
        got.insert(got.end(), part.begin(), part.begin() + count);
    return got;
}

void check_passes_all(Doubler& doubler, Executor& executor) {
    Started run(executor);
    std::jthread feeder([&] {
        push_in_pieces(doubler.inlet, numbers(10'001));
        CHECK(doubler.inlet.close() == 1);  // the last one fills no frame
    });
    const std::vector<int> got = pull_all(doubler.outlet);
    REQUIRE(got.size() == 10'000);
    for (int i = 0; i < 10'000; ++i) REQUIRE(got[static_cast<std::size_t>(i)] == 2 * i);
    CHECK(run.join().delivered == 2500);
}

std::size_t threads_here() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const RunError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("what is pushed in pieces comes out in order under every executor") {
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::active, WaitMode::mixed}) {
        CAPTURE(static_cast<int>(waiting));
        for (const std::size_t frames : {1u, 3u, 16u}) {
            const HandOverOptions options{.frames = frames, .waiting = waiting};
            Doubler in_order(options);
            Sequence sequence(in_order.graph);
            check_passes_all(in_order, sequence);
            Doubler staged(options);
            Pipeline pipeline(staged.graph, thread_per_task(staged.graph));
            check_passes_all(staged, pipeline);
            Doubler chosen(options);
            Dynamic dynamic(chosen.graph);
            check_passes_all(chosen, dynamic);
        }
    }
}

TEST_CASE("elements are written and read in place, up to a frame's end") {
    Doubler doubler;
    Sequence sequence(doubler.graph);
    Started run(sequence);
    std::span<int> place = doubler.inlet.place();
    REQUIRE(place.size() == 4);
    place[0] = 10;
    doubler.inlet.commit(1);
    place = doubler.inlet.place();
    REQUIRE(place.size() == 3);
    std::ranges::fill(place, 20);
    doubler.inlet.commit(3);

    std::span<const int> front = doubler.outlet.front();
    REQUIRE(front.size() == 4);
    CHECK(doubler.outlet.frame() == 0);
    CHECK(front[0] == 20);
    doubler.outlet.done(3);
    front = doubler.outlet.front();
    REQUIRE(front.size() == 1);
    CHECK(front[0] == 40);
    doubler.outlet.done(1);
    CHECK(doubler.outlet.frame() == kEndless);
    CHECK(doubler.outlet.try_front().empty());

    CHECK(error_of([&] { doubler.inlet.commit(1); }) ==
          "inlet: 1 elements are said to be written where there is room for 0; place() says how many there "
          "may be");
    CHECK(error_of([&] { doubler.outlet.done(2); }) ==
          "outlet: 2 elements are said to be done with where 0 were shown; front() says how many there are");
    doubler.inlet.close();
    run.join();
}

TEST_CASE("who tries is told how much there was room for, or how much there was") {
    Doubler doubler({.frames = 2});
    std::vector<int> all = numbers(100);
    CHECK(doubler.inlet.try_push(all) == 8);
    CHECK(doubler.inlet.try_push(all) == 0);
    std::array<int, 4> got{};
    CHECK(doubler.outlet.try_pull(got) == 0);
    Sequence sequence(doubler.graph);
    sequence.run({.frames = 1});
    CHECK(doubler.outlet.try_pull(got) == 4);
    CHECK(doubler.outlet.try_pull(got) == 0);
    CHECK(got[3] == 6);
    CHECK(doubler.inlet.try_push(all) == 4);
}

TEST_CASE("an inlet that asks and an outlet that tells work in the frame's own memory") {
    Graph graph;
    int asked = 0;
    std::vector<int> told;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{2}, [&](std::span<int> x) {
        x[0] = asked;
        x[1] = -asked;
        return asked++ < 3;
    });
    auto& outlet = graph.add<Outlet<int>>(
        std::size_t{2}, [&](std::span<const int> x) { told.insert(told.end(), x.begin(), x.end()); });
    graph.chain(inlet, outlet);
    Pipeline pipeline(graph, thread_per_task(graph));
    CHECK(Started(pipeline).join().delivered == 3);
    CHECK(told == std::vector{0, 0, 1, -1, 2, -2});
}

TEST_CASE("a callback that throws ends the run, and those who wait outside are told") {
    Graph graph;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{1}, HandOverOptions{.frames = 2});
    auto& outlet = graph.add<Outlet<int>>(std::size_t{1}, [](std::span<const int> x) {
        if (x[0] == 3) throw std::runtime_error("3 is not welcome");
    });
    graph.chain(inlet, outlet);
    Sequence sequence(graph);
    std::string told;
    Started run(sequence, {}, [&](const std::exception& error) {
        told = error.what();
        throw std::runtime_error("and this is of no consequence");
    });
    const std::vector<int> all = numbers(100);
    CHECK(error_of([&] { inlet.push(all); }) ==
          "inlet: the run has ended, and 2 frames that nobody took wait here; begin another run, or push no "
          "more");
    const std::string error = error_of([&] { run.join(); });
    CHECK(error == "task outlet.empty (stage 1, replica 1) failed at frame 3: 3 is not welcome");
    CHECK(told == error);
    CHECK(!run.running());
    CHECK(error_of([&] { run.join(); }) == "this run was joined already; its report is given once");
}

TEST_CASE("an inlet that was closed takes no more, until the graph is reset") {
    Doubler doubler;
    const std::vector<int> all = numbers(4);
    doubler.inlet.push(all);
    CHECK(doubler.inlet.close() == 0);
    CHECK(doubler.inlet.close() == 0);
    CHECK(error_of([&] { doubler.inlet.push(all); }) ==
          "inlet: it was closed, so nothing can follow; reset the graph to begin anew");
    Sequence sequence(doubler.graph);
    CHECK(sequence.run().delivered == 1);
    doubler.graph.reset();
    doubler.inlet.push(all);
    CHECK(sequence.run({.frames = 1}).delivered == 1);
}

TEST_CASE("a run stops while it waits for the program, and what was delivered can be pulled after it") {
    for (const bool starved : {true, false}) {
        CAPTURE(starved);
        Doubler doubler({.frames = 2});
        Pipeline pipeline(doubler.graph, thread_per_task(doubler.graph));
        Started run(pipeline);
        if (!starved) {  // the outlet is full, and more is on its way
            std::jthread feeder([&](const std::stop_token& enough) {
                const std::vector<int> all = numbers(4);
                while (!enough.stop_requested()) doubler.inlet.try_push(all);
            });
            while (doubler.outlet.frame() != 0) std::this_thread::yield();
        }
        run.stop();
        const RunReport report = run.join();
        const std::vector<int> got = pull_all(doubler.outlet);
        CHECK(got.size() == 4 * report.delivered);
        CHECK((report.delivered == 0) == starved);
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == 2 * static_cast<int>(i % 4));
    }
}

TEST_CASE("a stream whose patience with the program is at an end says so") {
    SUBCASE("nobody empties the outlet") {
        Doubler doubler({.frames = 2, .patience = 20ms});
        Sequence sequence(doubler.graph);
        Started run(sequence);
        const std::vector<int> all = numbers(40);
        CHECK_THROWS_AS(doubler.inlet.push(all), RunError);
        CHECK(error_of([&] { run.join(); }) ==
              "task outlet.empty (stage 1, replica 1) failed at frame 2: 2 frames wait, and nobody has "
              "pulled one "
              "for 20 ms; pull them, or give the outlet a function");
    }
    SUBCASE("nobody feeds the inlet") {
        Doubler doubler({.patience = 20ms});
        Sequence sequence(doubler.graph);
        Started run(sequence);
        CHECK(error_of([&] { run.join(); }) ==
              "task inlet.feed (stage 1, replica 1) failed at frame 0: nothing was pushed for 20 ms; push, "
              "or close "
              "the inlet");
    }
}

TEST_CASE(
    "a stream that may drop late frames drops what is pushed when it has no room, or what waits longest") {
    for (const Late late : {Late::drop_newest, Late::drop_oldest}) {
        CAPTURE(static_cast<int>(late));
        Doubler doubler({.frames = 1});
        Pipeline pipeline(doubler.graph, thread_per_task(doubler.graph));
        Started run(pipeline, {.late = late});
        doubler.inlet.push(numbers(4 * 200));  // nobody pulls, and yet this does not wait for ever
        doubler.inlet.close();
        std::vector<int> got;
        while (!doubler.outlet.front().empty()) {
            got.push_back(doubler.outlet.front()[0]);
            CHECK(got.back() == 8 * static_cast<int>(doubler.outlet.frame()));
            doubler.outlet.done(4);
        }
        const RunReport report = run.join();
        CHECK(report.frames == 200);
        CHECK(report.dropped > 0);
        CHECK(got.size() == report.delivered);
        CHECK(report.delivered + report.dropped == 200);
    }
}

TEST_CASE("a run that is started has one thread more than its executor, and knobs are turned meanwhile") {
    Doubler doubler;
    Sequence sequence(doubler.graph);
    const std::size_t before = threads_here();
    std::array<int, 4> got{};
    {
        Started run(sequence);
        CHECK(threads_here() == before + 1);
        doubler.inlet.push(numbers(4));
        CHECK(doubler.outlet.pull(got) == 4);
        CHECK(got[1] == 2);
        sequence.set(doubler.gain, 5);
        doubler.inlet.push(numbers(4));
        CHECK(doubler.outlet.pull(got) == 4);
        CHECK(run.running());
    }
    CHECK(threads_here() == before);
    CHECK(doubler.outlet.pull(got) == 0);
}

TEST_CASE("a run is stopped by the token in its options, too") {
    Doubler doubler;
    Sequence sequence(doubler.graph);
    std::stop_source stop;
    Started run(sequence, {.stop = stop.get_token()});
    stop.request_stop();
    CHECK(run.join().delivered == 0);
}

TEST_CASE("an inlet without room for a frame is refused") {
    Graph graph;
    CHECK_THROWS_AS(graph.add<Inlet<int>>(std::size_t{4}, HandOverOptions{.frames = 0}), Error);
}

namespace {

/// The sums of two streams of single numbers that the program feeds.
struct Adder {
    Adder() {
        auto& sum = graph.add(task("sum", in<int>("a", 1), in<int>("b", 1), out<int>("y", 1),
                                   [](auto a, auto b, auto y) { y[0] = a[0] + b[0]; }));
        graph.bind(first["data"], sum["a"]);
        graph.bind(second["data"], sum["b"]);
        graph.bind(sum["y"], outlet["data"]);
    }
    Graph graph{};
    Inlet<int>& first = graph.add<Inlet<int>>(std::size_t{1});
    Inlet<int>& second = graph.add<Inlet<int>>(std::size_t{1});
    Outlet<int>& outlet = graph.add<Outlet<int>>(std::size_t{1});
};

void check_ends_where_one_was_closed(Adder& adder, Executor& executor, Inlet<int>& closed, Inlet<int>& open) {
    Started run(executor);
    const std::vector<int> all = numbers(5);
    closed.push(all);
    closed.close();
    open.push(all);
    open.push(std::vector<int>{7});  // and now it waits
    CHECK(pull_all(adder.outlet) == std::vector<int>{0, 2, 4, 6, 8});
    CHECK(run.join().delivered == 5);
}

}  // namespace

TEST_CASE("where two inlets feed a task, closing one ends the stream behind what both were given") {
    for (const bool second_is_closed : {true, false}) {
        CAPTURE(second_is_closed);
        for (int round = 0; round < 20; ++round) {
            Adder in_order;
            Adder staged;
            Adder chosen;
            const auto check = [&](Adder& adder, auto executor) {
                Inlet<int>& closed = second_is_closed ? adder.second : adder.first;
                Inlet<int>& open = second_is_closed ? adder.first : adder.second;
                check_ends_where_one_was_closed(adder, executor, closed, open);
            };
            check(in_order, Sequence(in_order.graph));
            check(staged, Pipeline(staged.graph, thread_per_task(staged.graph)));
            check(chosen, Dynamic(chosen.graph, {.workers = 3}));
        }
    }
}

TEST_CASE("an inlet waits for the frames that another one has, though the stream ends behind them") {
    Adder adder;
    Pipeline pipeline(adder.graph, thread_per_task(adder.graph));
    Started run(pipeline);
    adder.first.push(numbers(3));
    adder.first.close();
    std::array<int, 1> got{};
    for (int i = 0; i < 3; ++i) {
        adder.second.push(std::vector<int>{10});
        REQUIRE(adder.outlet.pull(got) == 1);
        CHECK(got[0] == 10 + i);
    }
    CHECK(run.join().delivered == 3);
}

TEST_CASE("what an inlet or an outlet with a function cannot do is refused") {
    Graph graph;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{1}, [](std::span<int>) { return false; });
    auto& outlet = graph.add<Outlet<int>>(std::size_t{1}, [](std::span<const int>) {});
    const std::vector<int> one{1};
    std::array<int, 1> got{};
    CHECK(error_of([&] { inlet.push(one); }) ==
          "inlet: it asks a function for its frames; nothing can be pushed");
    CHECK(error_of([&] { inlet.close(); }) ==
          "inlet: it asks a function, which ends the stream by saying false");
    CHECK(error_of([&] { outlet.pull(got); }) == "outlet: it calls a function; nothing can be pulled");
    CHECK_THROWS_AS(graph.add<Inlet<int>>(std::size_t{1}, Inlet<int>::Fill{}), GraphError);
    CHECK_THROWS_AS(graph.add<Outlet<int>>(std::size_t{1}, Outlet<int>::Tell{}), GraphError);
}

TEST_CASE("hand-overs that make no sense are refused") {
    Graph graph;
    CHECK_THROWS_AS(graph.add<Inlet<int>>(std::size_t{1}, HandOverOptions{.patience = -1ms}), GraphError);
    CHECK_THROWS_AS(graph.add<Outlet<int>>(std::size_t{1}, HandOverOptions{.frames = std::size_t{1} << 40}),
                    GraphError);
}

TEST_CASE("a run that was moved elsewhere is not here any more") {
    Doubler doubler;
    Sequence sequence(doubler.graph);
    Started run(sequence);
    Started moved(std::move(run));
    CHECK(moved.running());
    CHECK(!run.running());
    run.stop();
    CHECK(error_of([&] { run.join(); }) == "this run was moved elsewhere; join it there");
    moved.stop();
    CHECK(moved.join().delivered == 0);
}

TEST_CASE(
    "what was given comes out under dynamic scheduling while inlets wait for more, however few workers") {
    for (const unsigned workers : {1u, 2u, 4u}) {
        CAPTURE(workers);
        Adder adder;
        Dynamic dynamic(adder.graph, {.workers = workers});
        Started run(dynamic);
        std::array<int, 1> got{};
        std::uint64_t frames = 0;
        for (int burst = 0; burst < 100; ++burst) {  // so that its tasks seem short enough to be bundled
            const std::vector<int> all = numbers(burst % 12 + 1);
            frames += all.size();
            adder.first.push(all);
            adder.second.push(all);
            for (const int number : all) {
                REQUIRE(adder.outlet.pull(got) == 1);
                REQUIRE(got[0] == 2 * number);
            }
        }
        adder.second.close();
        adder.first.close();
        CHECK(run.join().delivered == frames);
    }
}
