// Frames of varying size: every reader gets as many elements as the writer gave, under every executor.
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/observe/probes.hpp"

using namespace tidemill;

namespace {

constexpr std::size_t kMost = 20;

/// Frame n holds n % 21 elements: n, n + 1 and so on. A frame of none is left as it begins.
auto counting() {
    return task("counting", out<int>("y", upto(kMost)), [n = 0](Elements<int> y) mutable {
        if (n % 21 > 0) {
            const std::span<int> room = y.resize(static_cast<std::size_t>(n % 21));
            std::iota(room.begin(), room.end(), n);
        }
        return n++ < 200 ? Flow::ok : Flow::stop;
    });
}

auto keep_even() {
    return task("keep_even", in<int>("x", upto(kMost)), out<int>("y", upto(kMost)),
                [](std::span<const int> x, Elements<int> y) {
                    for (const int value : x)
                        if (value % 2 == 0) y.push_back(value);
                });
}

auto collect(std::vector<std::vector<int>>& into) {
    return task("collect", in<int>("x", upto(kMost)),
                [&into](std::span<const int> x) { into.emplace_back(x.begin(), x.end()); });
}

std::vector<std::vector<int>> evens() {
    std::vector<std::vector<int>> all;
    for (int n = 0; n < 200; ++n) {
        all.emplace_back();
        for (int i = n; i < n + n % 21; ++i)
            if (i % 2 == 0) all.back().push_back(i);
    }
    return all;
}

std::size_t size_of_first(Graph& graph) {
    return compile(graph, structure_of(graph), {{1, 1}, {1, 1}}).segments.front().token_bytes;
}

}  // namespace

TEST_CASE("readers get as many elements as a frame was given, also none, under every executor") {
    const auto run = [](auto with) {
        std::vector<std::vector<int>> got;
        Graph graph;
        graph.chain(graph.add(counting()), graph.add(keep_even()), graph.add(collect(got)));
        with(graph);
        CHECK(got == evens());
    };
    run([](Graph& graph) { Sequence(graph).run(); });
    run([](Graph& graph) { Pipeline(graph, thread_per_task(graph)).run(); });
    run([](Graph& graph) { Pipeline(graph, thread_per_task(graph), {.frames = 3}).run(); });
    run([](Graph& graph) { Dynamic(graph, {.workers = 2}).run(); });
}

TEST_CASE("a task that changes a frame in place may give it another size, and others see the old one") {
    Graph graph;
    std::vector<std::size_t> before, after;
    auto& source = graph.add(counting());
    auto& halve = graph.add(
        task("halve", forward<int>("x", upto(kMost)), [](Elements<int> x) { x.resize(x.size() / 2); }));
    auto& old =
        graph.add(task("old", in<int>("x", upto(kMost)), [&](auto x) { before.push_back(x.size()); }));
    auto& young =
        graph.add(task("young", in<int>("x", upto(kMost)), [&](auto x) { after.push_back(x.size()); }));
    graph.bind(source["y"], halve["x"]);
    graph.bind(source["y"], old["x"]);
    graph.bind(halve["x"], young["x"]);
    Sequence(graph).run();
    REQUIRE(before.size() == 200);
    for (std::size_t n = 0; n < before.size(); ++n) {
        CHECK(before[n] == n % 21);
        CHECK(after[n] == n % 21 / 2);
    }
}

TEST_CASE("sizes go with their frames past tasks that skip and repeat") {
    std::vector<std::vector<int>> got;
    Graph graph;
    auto& source = graph.add(counting());
    auto& gate = graph.add(task("gate", may_skip, may_repeat, in<int>("x", upto(kMost)), out<int>("n"),
                                [left = 0](std::span<const int> x, auto n) mutable {
                                    if (left == 0) left = static_cast<int>(x.size() % 3);
                                    n[0] = static_cast<int>(x.size());
                                    if (left == 0) return Flow::skip;
                                    return --left > 0 ? Flow::again : Flow::ok;
                                }));
    auto& sink = graph.add(task("sink", in<int>("x", upto(kMost)), in<int>("n"),
                                [&](std::span<const int> x, std::span<const int> n) {
                                    CHECK(x.size() == static_cast<std::size_t>(n[0]));
                                    got.emplace_back(x.begin(), x.end());
                                }));
    graph.bind(source["y"], gate["x"]);
    graph.bind(source["y"], sink["x"]);
    graph.bind(gate["n"], sink["n"]);
    Pipeline(graph, thread_per_task(graph)).run();
    std::vector<std::vector<int>> expected;
    for (int n = 0; n < 200; ++n) {
        std::vector<int> frame(static_cast<std::size_t>(n % 21));
        std::iota(frame.begin(), frame.end(), n);
        for (int copies = n % 21 % 3; copies > 0; --copies) expected.push_back(frame);
    }
    CHECK(got == expected);
}

TEST_CASE("a task that runs several times a frame gives each firing its own number of elements") {
    Graph graph;
    std::vector<std::size_t> sizes;
    auto& source = graph.add(task("source", out<int>("y", 3), [n = 0](auto y) mutable {
        for (int& each : y) each = n++;
    }));
    auto& spread =
        graph.add(task("spread", in<int>("x"), out<char>("y", upto(7)), [](auto x, Elements<char> y) {
            if (x[0] % 8 > 0) y.resize(static_cast<std::size_t>(x[0] % 8));
        }));
    auto& sink = graph.add(
        task("sink", sequential, in<char>("x", upto(7)), [&](auto x) { sizes.push_back(x.size()); }));
    graph.stream(source["y"], spread["x"]);
    graph.bind(spread["y"], sink["x"]);
    Pipeline(graph, thread_per_task(graph)).run({.frames = 20});
    REQUIRE(sizes.size() == 60);
    for (std::size_t n = 0; n < sizes.size(); ++n) CHECK(sizes[n] == n % 8);
}

TEST_CASE("constants may be shorter than an input that varies") {
    Graph graph;
    std::vector<std::vector<int>> got;
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", in<int>("x"), in<int>("taps", upto(4)),
                                [&](auto, auto taps) { got.emplace_back(taps.begin(), taps.end()); }));
    graph.bind(source["y"], sink["x"]);
    graph.bind(std::vector<int>{4, 5}, InUpTo<int>{&sink, 1, 4});
    Sequence(graph).run({.frames = 1});
    CHECK(got == std::vector<std::vector<int>>{{4, 5}});
    CHECK_THROWS_WITH_AS(graph.bind(std::vector<int>(5), InUpTo<int>{&sink, 1, 4}),
                         "sink.taps (int32 x up to 4) is bound already: an input has one source", GraphError);
}

TEST_CASE("misuse of sockets that vary is refused in words") {
    Graph graph;
    auto& source = graph.add(counting());
    auto& fixed = graph.add(task("fixed", in<int>("x", kMost), [](auto) {}));
    auto& larger = graph.add(task("larger", in<int>("x", upto(30)), [](auto) {}));
    CHECK_THROWS_WITH_AS(graph.bind(source["y"], fixed["x"]),
                         "counting.y (int32 x up to 20) -> fixed.x (int32 x 20): frames of one vary in size; "
                         "declare both with upto(), or neither",
                         GraphError);
    CHECK_THROWS_AS(graph.bind(source["y"], larger["x"]), GraphError);
    CHECK_THROWS_WITH_AS(graph.stream(source["y"], larger["x"]),
                         "counting.y (int32 x up to 20) -> larger.x (int32 x up to 30): how often a task "
                         "runs must not depend on data; bind them",
                         GraphError);
    CHECK_THROWS_WITH_AS(graph.bind(std::vector<int>(31), InUpTo<int>{&larger, 0, 30}),
                         "constant of 124 bytes -> larger.x (int32 x up to 30): give up to 120 bytes",
                         GraphError);
}

TEST_CASE("more elements than a frame has room for are a fault of the task") {
    Graph graph;
    graph.add(task("source", out<int>("y", upto(3)), [n = 0](Elements<int> y) mutable { y.resize(n++); }));
    CHECK_THROWS_WITH_AS(Sequence(graph).run({.frames = 9}),
                         doctest::Contains("4 elements, where a frame has room for 3"), FrameError);
}

TEST_CASE("a testbench feeds and reads sockets that vary, and outputs begin empty") {
    Testbench bench{keep_even()};
    const InUpTo<int> x{&*bench, 0, kMost};
    const OutUpTo<int> y{&*bench, 1, kMost};
    bench.feed(x, {1, 2, 3, 4}).step();
    CHECK(std::ranges::equal(bench.read(y), std::vector{2, 4}));
    bench.feed(x, {1}).step();
    CHECK(bench.read(y).empty());
    CHECK_THROWS_AS(bench.feed(x, std::vector<int>(kMost + 1)), GraphError);
}

TEST_CASE("probes show what a frame holds") {
    Graph graph;
    graph.add(counting());
    Probes probes(graph);
    const Probe& probe = probes.add("counting.y", 4);
    Sequence(graph).run({.frames = 2, .observers = {&probes}});
    CHECK(probe.reading().values<int>() == std::vector{1});
    Sequence(graph).run({.frames = 10, .observers = {&probes}});
    CHECK(probe.reading().values<int>() == std::vector{11, 12, 13, 14});
}

TEST_CASE("what a frame keeps room for is a line for the number, and the elements") {
    Graph graph;
    auto& source = graph.add(counting());
    std::vector<std::vector<int>> got;
    auto& sink = graph.add(collect(got));
    graph.chain(source, sink);
    CHECK(size_of_first(graph) == 64 + 128);
}

TEST_CASE(
    "a frame on which a task was skipped carries nothing of what it would have given over a segment's end") {
    constexpr std::size_t kRoom = 64;
    Graph graph;
    // A value that dies before the varying frame is made leaves its bytes there: as a size, far too much.
    auto& first = graph.add(task("first", sequential, out<std::uint64_t>("y", kRoom),
                                 [](auto y) { std::fill(y.begin(), y.end(), ~std::uint64_t{0}); }));
    auto& second = graph.add(task("second", sequential, in<std::uint64_t>("x", kRoom),
                                  out<std::uint64_t>("y"), [n = 0u](auto, auto y) mutable { y[0] = n++; }));
    auto& odd = graph.add(
        task("odd", pure, may_skip, in<std::uint64_t>("x"), out<std::uint64_t>("y"), [](auto x, auto y) {
            y[0] = x[0];
            return x[0] % 2 == 0 ? Flow::skip : Flow::ok;
        }));
    auto& sized = graph.add(task("sized", pure, in<std::uint64_t>("x"), out<std::uint8_t>("y", upto(kRoom)),
                                 [](auto x, Elements<std::uint8_t> y) { y.resize(x[0] % kRoom); }));
    auto& gate = graph.add(task("gate", sequential, may_skip, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                [](auto x, auto y) {
                                    y[0] = x[0];
                                    return Flow::ok;
                                }));
    std::uint64_t read = 0;
    auto& late = graph.add(task("late", sequential, in<std::uint8_t>("x", upto(kRoom)),
                                in<std::uint64_t>("n"), [&](auto x, auto n) {
                                    CHECK(x.size() == n[0] % kRoom);
                                    ++read;
                                }));
    graph.chain(first, second);
    graph.bind(second["y"], odd["x"]);
    graph.bind(odd["y"], sized["x"]);
    graph.bind(second["y"], gate["x"]);
    graph.bind(sized["y"], late["x"]);
    graph.bind(gate["y"], late["n"]);
    Sequence(graph).run({.frames = 100});
    CHECK(read == 50);
    Pipeline(graph, thread_per_task(graph)).run({.frames = 100});
    CHECK(read == 100);
}
