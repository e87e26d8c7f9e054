#include "tidemill/runtime/graph/control.hpp"

#include <functional>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"

using namespace tidemill;

namespace {

using Word = std::uint64_t;
using Words = std::vector<Word>;

class Count : public Module {
  public:
    explicit Count(Word frames) : frames_(frames) {}
    Out<Word> value = out<Word>("value");
    Task next = task("next", &Count::count);

  private:
    Flow count(Frame f) {
        if (n_ == frames_) return Flow::stop;
        f[value][0] = n_++;
        return Flow::ok;
    }
    Word frames_;
    Word n_ = 0;
};

/// One word in, one word out.
auto map(const std::string& name, std::function<Word(Word)> function) {
    return task(name, pure, in<Word>("x"), out<Word>("y"), [=](auto x, auto y) { y[0] = function(x[0]); });
}

/// One word in, a control value out.
auto decide(const std::string& name, std::function<int(Word)> function) {
    return task(name, pure, in<Word>("x"), out<std::uint8_t>("c"),
                [=](auto x, auto c) { c[0] = static_cast<std::uint8_t>(function(x[0])); });
}

auto collect(Words& words) {
    return task("collect", in<Word>("x"), [&words](auto x) { words.push_back(x[0]); });
}

void run_in_three_stages(Graph& graph, int threads) {
    const std::size_t units = structure_of(graph).units.size();
    Schedule schedule;
    schedule.stages = {{0, 1, 1, "big"}, {1, units - 2, threads, "big"}, {units - 1, 1, 1, "big"}};
    Pipeline(graph, schedule).run();
}

/// Runs what `build` binds between a source of 40 words and a collector, which are given to it: in order, as
/// one stage of one thread or three with a border on either side, and by tasks.
void check_everywhere(const std::function<SocketRef(Graph&, SocketRef)>& build,
                      const std::function<Word(Word)>& wanted) {
    const std::function<void(Graph&)> executors[] = {
        [](Graph& graph) { Sequence(graph).run(); },
        [](Graph& graph) { run_in_three_stages(graph, 1); },
        [](Graph& graph) { run_in_three_stages(graph, 3); },
        [](Graph& graph) { Dynamic(graph, {.workers = 3}).run(); },
        [](Graph& graph) { Dynamic(graph, {.workers = 2, .window = {.iterations = 1}}).run(); },
    };
    for (const auto& run : executors) {
        Words words;
        Graph graph;
        const SocketRef end = build(graph, graph.add<Count>(40u)["value"]);
        graph.bind(end, graph.add(collect(words))["x"]);
        run(graph);
        REQUIRE(words.size() == 40);
        for (Word n = 0; n < 40; ++n) CHECK(words[n] == wanted(n));
    }
}

/// x, doubled while it is below 100.
SocketRef doubling_loop(Graph& graph, SocketRef start) {
    auto& loop = graph.add<Loop<Word>>("loop");
    auto& small = graph.add(decide("small", [](Word x) { return x > 0 && x < 100; }));
    auto& twice = graph.add(map("twice", [](Word x) { return 2 * x; }));
    graph.bind(start, loop.first);
    graph.bind(loop.turn, small["x"]);
    graph.bind(loop.turn, loop.data);
    graph.bind(small["c"], loop.control);
    graph.bind(loop.body, twice["x"]);
    graph.bind(twice["y"], loop.next);
    return loop.done;
}

Word doubled(Word x) {
    while (x > 0 && x < 100) x *= 2;
    return x;
}

}  // namespace

TEST_CASE("a while loop runs its body as often as the data say, perhaps never") {
    check_everywhere(doubling_loop, doubled);
}

TEST_CASE("a do-while loop works in its head and leads its body straight back") {
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            auto& loop = graph.add<Loop<Word>>("loop");
            auto& add = graph.add(map("add", [](Word x) { return x + 7; }));
            auto& odd = graph.add(decide("odd", [](Word x) { return x % 5 != 0; }));
            graph.bind(start, loop.first);
            graph.bind(loop.turn, add["x"]);
            graph.bind(add["y"], loop.data);
            graph.bind(add["y"], odd["x"]);
            graph.bind(odd["c"], loop.control);
            graph.bind(loop.body, loop.next);
            return SocketRef(loop.done);
        },
        [](Word x) {
            do x += 7;
            while (x % 5 != 0);
            return x;
        });
}

TEST_CASE("tasks inside a loop see what was made before it, in every turn") {
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            auto& before = graph.add(map("before", [](Word x) { return x + 3; }));
            auto& loop = graph.add<Loop<Word>>("loop");
            auto& more = graph.add(decide("more", [](Word x) { return x < 50; }));
            auto& add = graph.add(task("add", in<Word>("a"), in<Word>("b"), out<Word>("y"),
                                       [](auto a, auto b, auto y) { y[0] = a[0] + b[0]; }));
            auto& noise = graph.add(map("noise", [](Word x) { return x * 31; }));  // wants memory of its own
            auto& sum = graph.add(task("sum", in<Word>("a"), in<Word>("b"), out<Word>("y"),
                                       [](auto a, auto b, auto y) { y[0] = a[0] + 1000 * b[0]; }));
            graph.bind(start, before["x"]);
            graph.bind(start, loop.first);
            graph.bind(loop.turn, loop.data);
            graph.bind(loop.turn, more["x"]);
            graph.bind(more["c"], loop.control);
            graph.bind(loop.body, noise["x"]);
            graph.bind(loop.body, add["a"]);
            graph.bind(before["y"], add["b"]);
            graph.bind(add["y"], loop.next);
            graph.bind(loop["done"], sum["a"]);
            graph.bind(before["y"], sum["b"]);
            return sum["y"];
        },
        [](Word n) {
            Word x = n;
            while (x < 50) x += n + 3;
            return x + 1000 * (n + 3);
        });
}

TEST_CASE("loops nest") {
    // The sum of 0..x-1 for each x, by an inner loop, until it passes 100.
    struct State {
        Word outer, inner, sum;
    };
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            const auto step = [&](const std::string& name, std::function<void(State&)> change) -> Module& {
                return graph.add(task(name, pure, in<State>("x"), out<State>("y"), [=](auto x, auto y) {
                    y[0] = x[0];
                    change(y[0]);
                }));
            };
            const auto test = [&](const std::string& name,
                                  std::function<bool(const State&)> condition) -> Module& {
                return graph.add(task(name, pure, in<State>("x"), out<std::uint8_t>("c"),
                                      [=](auto x, auto c) { c[0] = condition(x[0]); }));
            };
            auto& pack = graph.add(task("pack", in<Word>("x"), out<State>("y"), [](auto x, auto y) {
                y[0] = {x[0], 0, 0};
            }));
            auto& outer = graph.add<Loop<State>>("outer");
            auto& outer_more = test("outer_more", [](const State& s) { return s.sum < 100; });
            auto& enter = step("enter", [](State& s) { s.inner = 0; });
            auto& inner = graph.add<Loop<State>>("inner");
            auto& inner_more = test("inner_more", [](const State& s) { return s.inner < s.outer; });
            auto& add = step("add", [](State& s) { s.sum += s.inner++; });
            auto& leave = step("leave", [](State& s) { ++s.outer; });
            auto& unpack = graph.add(task("unpack", in<State>("x"), out<Word>("y"),
                                          [](auto x, auto y) { y[0] = x[0].sum * 1000 + x[0].outer; }));
            graph.bind(start, pack["x"]);
            graph.bind(pack["y"], outer["first"]);
            graph.bind(outer.turn, outer.data);
            graph.bind(outer["turn"], outer_more["x"]);
            graph.bind(outer_more["c"], outer["control"]);
            graph.bind(outer["body"], enter["x"]);
            graph.bind(enter["y"], inner["first"]);
            graph.bind(inner.turn, inner.data);
            graph.bind(inner["turn"], inner_more["x"]);
            graph.bind(inner_more["c"], inner["control"]);
            graph.bind(inner["body"], add["x"]);
            graph.bind(add["y"], inner["next"]);
            graph.bind(inner["done"], leave["x"]);
            graph.bind(leave["y"], outer["next"]);
            graph.bind(outer["done"], unpack["x"]);
            return unpack["y"];
        },
        [](Word x) {
            Word sum = 0;
            while (sum < 100) {
                for (Word i = 0; i < x; ++i) sum += i;
                ++x;
            }
            return sum * 1000 + x;
        });
}

TEST_CASE("a switch runs the path that its control value names, even an empty one") {
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            auto& choice = graph.add<Switch<Word>>("choice", std::uint8_t{3});
            auto& which = graph.add(decide("which", [](Word x) { return x % 3; }));
            auto& square = graph.add(map("square", [](Word x) { return x * x; }));
            auto& add = graph.add(map("add", [](Word x) { return x + 1; }));
            auto& add_more = graph.add(map("add_more", [](Word x) { return x + 100; }));
            graph.bind(start, which["x"]);
            graph.bind(start, choice["data"]);
            graph.bind(which["c"], choice["control"]);
            graph.bind(choice["out0"], square["x"]);
            graph.bind(square["y"], choice["in0"]);
            graph.bind(choice["out1"], choice["in1"]);
            graph.bind(choice["out2"], add["x"]);
            graph.bind(add["y"], add_more["x"]);
            graph.bind(add_more["y"], choice["in2"]);
            return choice["joined"];
        },
        [](Word x) { return x % 3 == 0   ? x * x
                            : x % 3 == 1 ? x
                                         : x + 101; });
}

TEST_CASE("a loop at the end of a path, and a switch inside a loop") {
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            auto& choice = graph.add<Switch<Word>>("choice", std::uint8_t{2});
            auto& odd = graph.add(decide("odd", [](Word x) { return x % 2; }));
            graph.bind(start, odd["x"]);
            graph.bind(start, choice["data"]);
            graph.bind(odd["c"], choice["control"]);
            graph.bind(doubling_loop(graph, choice["out0"]), choice["in0"]);

            auto& collatz = graph.add<Loop<Word>>("collatz");
            auto& more = graph.add(decide("more", [](Word x) { return x != 1; }));
            auto& parity = graph.add(decide("parity", [](Word x) { return x % 2; }));
            auto& either = graph.add<Switch<Word>>("either", std::uint8_t{2});
            auto& half = graph.add(map("half", [](Word x) { return x / 2; }));
            auto& triple = graph.add(map("triple", [](Word x) { return 3 * x + 1; }));
            graph.bind(choice["out1"], collatz["first"]);
            graph.bind(collatz.turn, collatz.data);
            graph.bind(collatz["turn"], more["x"]);
            graph.bind(more["c"], collatz["control"]);
            graph.bind(collatz["body"], parity["x"]);
            graph.bind(collatz["body"], either["data"]);
            graph.bind(parity["c"], either["control"]);
            graph.bind(either["out0"], half["x"]);
            graph.bind(half["y"], either["in0"]);
            graph.bind(either["out1"], triple["x"]);
            graph.bind(triple["y"], either["in1"]);
            graph.bind(either["joined"], collatz["next"]);
            graph.bind(collatz["done"], choice["in1"]);
            return choice["joined"];
        },
        [](Word x) { return x % 2 == 0 ? doubled(x) : 1; });
}

TEST_CASE("a forward inside a loop does not change what other turns or tasks read") {
    check_everywhere(
        [](Graph& graph, SocketRef start) {
            auto& loop = graph.add<Loop<Word>>("loop");
            auto& more = graph.add(decide("more", [](Word x) { return x < 60; }));
            auto& shift = graph.add(task("shift", forward<Word>("x"), [](auto x) { x[0] = 2 * x[0] + 1; }));
            auto& sum = graph.add(task("sum", in<Word>("a"), in<Word>("b"), out<Word>("y"),
                                       [](auto a, auto b, auto y) { y[0] = a[0] * 1000 + b[0]; }));
            graph.bind(start, loop.first);
            graph.bind(loop.turn, loop.data);
            graph.bind(loop["turn"], more["x"]);
            graph.bind(more["c"], loop["control"]);
            graph.bind(loop["body"], shift["x"]);
            graph.bind(shift["x"], loop["next"]);
            graph.bind(loop["done"], sum["a"]);
            graph.bind(start, sum["b"]);
            return sum["y"];
        },
        [](Word n) {
            Word x = n;
            while (x < 60) x = 2 * x + 1;
            return x * 1000 + n;
        });
}

TEST_CASE("a loop of ten million turns uses constant stack") {
    Words words;
    Graph graph;
    auto& loop = graph.add<Loop<Word>>("loop");
    auto& more = graph.add(decide("more", [](Word x) { return x < 10'000'000; }));
    auto& add = graph.add(map("add", [](Word x) { return x + 1; }));
    graph.bind(graph.add<Count>(1u)["value"], loop["first"]);
    graph.bind(loop.turn, loop.data);
    graph.bind(loop["turn"], more["x"]);
    graph.bind(more["c"], loop["control"]);
    graph.bind(loop["body"], add["x"]);
    graph.bind(add["y"], loop["next"]);
    graph.bind(loop["done"], graph.add(collect(words))["x"]);
    Sequence(graph).run({.statistics = false});
    CHECK(words == Words{10'000'000});
}

TEST_CASE("a hole in a loop ends the frame's loop, and the next frame begins anew") {
    for (const int threads : {1, 3}) {
        Words words;
        Graph graph;
        auto& loop = graph.add<Loop<Word>>("loop");
        auto& more = graph.add(decide("more", [](Word x) { return x < 20; }));
        auto& gate =
            graph.add(task("gate", pure, may_skip, in<Word>("x"), out<Word>("y"), [](auto x, auto y) {
                y[0] = x[0] + 5;
                return x[0] % 3 == 1 ? Flow::skip : Flow::ok;
            }));
        graph.bind(graph.add<Count>(12u)["value"], loop["first"]);
        graph.bind(loop.turn, loop.data);
        graph.bind(loop["turn"], more["x"]);
        graph.bind(more["c"], loop["control"]);
        graph.bind(loop["body"], gate["x"]);
        graph.bind(gate["y"], loop["next"]);
        graph.bind(loop["done"], graph.add(collect(words))["x"]);
        Schedule schedule;
        schedule.stages = {{0, 1, 1, "big"}, {1, 1, threads, "big"}, {2, 1, 1, "big"}};
        Pipeline(graph, schedule).run();
        Words wanted;
        for (Word n = 0; n < 12; ++n) {
            Word x = n;
            while (x < 20 && x % 3 != 1) x += 5;
            if (x >= 20) wanted.push_back(x);
        }
        CHECK(words == wanted);
    }
}

TEST_CASE("a control value without a path is an error that names the task") {
    Words words;
    Graph graph;
    auto& choice = graph.add<Switch<Word>>("choice", std::uint8_t{2});
    auto& which = graph.add(decide("which", [](Word) { return 2; }));
    const SocketRef start = graph.add<Count>(3u)["value"];
    graph.bind(start, which["x"]);
    graph.bind(start, choice["data"]);
    graph.bind(which["c"], choice["control"]);
    graph.bind(choice["out0"], choice["in0"]);
    graph.bind(choice["out1"], choice["in1"]);
    graph.bind(choice["joined"], graph.add(collect(words))["x"]);
    CHECK_THROWS_WITH(
        Sequence(graph).run(),
        doctest::Contains("choice.commute (stage 1, replica 1) failed at frame 0: control value 2"));
}

TEST_CASE("faults of loops and switches are told") {
    const auto faults = [](const Graph& graph) {
        try {
            structure_of(graph);
            return std::string();
        } catch (const GraphError& error) {
            return std::string(error.what());
        }
    };
    SUBCASE("a body that leads nowhere") {
        Graph graph;
        const SocketRef start = graph.add<Count>(3u)["value"];
        auto& loop = graph.add<Loop<Word>>("loop");
        auto& more = graph.add(decide("more", [](Word) { return 0; }));
        graph.bind(start, loop.first);
        graph.bind(start, loop.next);
        graph.bind(loop.turn, loop.data);
        graph.bind(loop["turn"], more["x"]);
        graph.bind(more["c"], loop["control"]);
        CHECK(faults(graph).find("loop.next does not depend on loop.body") != std::string::npos);
    }
    SUBCASE("a task outside reads what one path makes") {
        Graph graph;
        Words words;
        const SocketRef start = graph.add<Count>(3u)["value"];
        auto& choice = graph.add<Switch<Word>>("choice", std::uint8_t{2});
        auto& which = graph.add(decide("which", [](Word) { return 0; }));
        auto& path = graph.add(map("path", [](Word x) { return x; }));
        graph.bind(start, which["x"]);
        graph.bind(start, choice["data"]);
        graph.bind(which["c"], choice["control"]);
        graph.bind(choice["out0"], path["x"]);
        graph.bind(path["y"], choice["in0"]);
        graph.bind(choice["out1"], choice["in1"]);
        graph.bind(path["y"], graph.add(collect(words))["x"]);
        CHECK(faults(graph).find("collect.collect reads what path.path makes on one path only") !=
              std::string::npos);
    }
    SUBCASE("a task that repeats inside a loop") {
        Graph graph;
        Words words;
        const SocketRef start = graph.add<Count>(3u)["value"];
        auto& loop = graph.add<Loop<Word>>("loop");
        auto& more = graph.add(decide("more", [](Word) { return 0; }));
        auto& bad = graph.add(
            task("bad", may_repeat, in<Word>("x"), out<Word>("y"), [](auto, auto) { return Flow::ok; }));
        graph.bind(start, loop.first);
        graph.bind(loop.turn, loop.data);
        graph.bind(loop["turn"], more["x"]);
        graph.bind(more["c"], loop["control"]);
        graph.bind(loop["body"], bad["x"]);
        graph.bind(bad["y"], loop["next"]);
        CHECK(faults(graph).find("bad.bad may skip or repeat inside 'loop'") != std::string::npos);
    }
}
