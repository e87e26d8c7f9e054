#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/graph/window.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using internal::test_schedule;

namespace {

/// Numbers from 1 on, `count` per firing.
auto numbers(std::size_t count) {
    return task("numbers", out<int>("y", count), [n = 0](auto y) mutable {
        for (int& each : y) each = ++n;
    });
}

/// Keeps all it gets, `count` per firing.
auto keep(std::vector<int>& kept, std::size_t count) {
    return task("keep", in<int>("x", count),
                [&kept](auto x) { kept.insert(kept.end(), x.begin(), x.end()); });
}

std::vector<int> counted(int from, int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), from);
    return all;
}

std::vector<std::uint32_t> firings(const Graph& graph) {
    std::vector<std::uint32_t> all;
    for (const OrderedTask& task : structure_of(graph).order) all.push_back(task.firings);
    return all;
}

// In order, as two stages with the border at each place, and by tasks.
void run_everywhere(const std::function<void(Graph&, std::vector<int>&)>& build, std::uint64_t frames,
                    const std::function<void(const std::vector<int>&)>& check) {
    std::size_t units = 0;
    {
        Graph graph;
        std::vector<int> kept;
        build(graph, kept);
        units = structure_of(graph).units.size();
        Sequence(graph).run({.frames = frames});
        check(kept);
    }
    for (std::size_t cut = 1; cut < units; ++cut) {
        Graph graph;
        std::vector<int> kept;
        build(graph, kept);
        Pipeline(graph, test_schedule({{cut, 1}, {units - cut, 1}})).run({.frames = frames});
        check(kept);
    }
    for (const std::uint64_t window : {1, 3, 64}) {
        Graph graph;
        std::vector<int> kept;
        build(graph, kept);
        Dynamic(graph, {.workers = 3, .window = {.iterations = window}}).run({.frames = frames});
        check(kept);
    }
}

}  // namespace

TEST_CASE("tasks run as often per frame as their streams ask for") {
    const auto build = [](Graph& graph, std::vector<int>& kept) {
        auto& source = graph.add(numbers(3));
        auto& pairs = graph.add(task("pairs", in<int>("x", 2), out<int>("y", 2), [](auto x, auto y) {
            y[0] = x[1];
            y[1] = x[0];
        }));
        auto& sink = graph.add(keep(kept, 4));
        graph.stream(source["y"], pairs["x"]);
        graph.stream(pairs["y"], sink["x"]);
    };
    Graph graph;
    std::vector<int> kept;
    build(graph, kept);
    CHECK(firings(graph) == std::vector<std::uint32_t>{4, 6, 3});
    run_everywhere(build, 5, [](const std::vector<int>& got) {
        std::vector<int> wanted = counted(1, 60);
        for (std::size_t i = 0; i < wanted.size(); i += 2) std::swap(wanted[i], wanted[i + 1]);
        CHECK(got == wanted);
    });
}

TEST_CASE("a firing counts as a frame of its own") {
    Graph graph;
    std::vector<int> kept;
    struct Numbered : Module {
        Out<int> y = out<int>("y", 2);
        Task make = task("make", &Numbered::number, pure);
        void number(Frame f) const { f[y][0] = f[y][1] = static_cast<int>(f.number()); }
    };
    auto& source = graph.add<Numbered>();
    auto& sink = graph.add(keep(kept, 6));
    graph.stream(source["y"], sink["x"]);
    Pipeline(graph, test_schedule({{1, 3}, {1, 1}})).run({.frames = 2});
    CHECK(kept == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
}

TEST_CASE("forwards, constants and several readers keep to their firings") {
    const auto build = [](Graph& graph, std::vector<int>& kept) {
        auto& source = graph.add(numbers(6));
        auto& add = graph.add(task("add", forward<int>("x", 2), in<int>("c", 2), [](auto x, auto c) {
            x[0] += c[0];
            x[1] += c[1];
        }));
        auto& both = graph.add(
            task("both", in<int>("a", 3), in<int>("b", 3), out<int>("y", 3), [](auto a, auto b, auto y) {
                for (std::size_t i = 0; i < 3; ++i) y[i] = 1000 * a[i] + b[i];
            }));
        auto& sink = graph.add(keep(kept, 1));
        graph.stream(source["y"], add["x"]);
        auto& constant = graph.add(task("constant", out<int>("y", 2), [](auto y) { y[0] = 10, y[1] = 20; }));
        graph.stream(constant["y"], add["c"]);
        graph.stream(source["y"], both["a"]);
        graph.stream(add["x"], both["b"]);
        graph.stream(both["y"], sink["x"]);
    };
    run_everywhere(build, 2, [](const std::vector<int>& got) {
        std::vector<int> wanted = counted(1, 12);
        for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = 1001 * wanted[i] + (i % 2 == 0 ? 10 : 20);
        CHECK(got == wanted);
    });
}

TEST_CASE("streams that do not come out even are refused, with the binding") {
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y", 2), out<int>("z", 3), [](auto, auto) {}));
    auto& sink = graph.add(task("sink", in<int>("a", 1), in<int>("b", 1), [](auto, auto) {}));
    graph.stream(source["y"], sink["a"]);
    graph.stream(source["z"], sink["b"]);
    CHECK_THROWS_WITH(
        structure_of(graph),
        "source.z (3) -> sink.b (1) does not come out even with the other streams between these "
        "tasks; change the counts");
}

TEST_CASE("a task that skips runs once per frame") {
    Graph graph;
    auto& source = graph.add(numbers(4));
    auto& some = graph.add(task("some", may_skip, in<int>("x", 2), [](auto) { return Flow::skip; }));
    graph.stream(source["y"], some["x"]);
    CHECK_THROWS_WITH(structure_of(graph),
                      "some.some would run 2 times per frame, but a task that skips, repeats, steers or sees "
                      "the end runs once: "
                      "make its sockets larger");
}

TEST_CASE("an input that peeks sees the end of the data before, and may be replicated") {
    const std::vector<int> initial{-2, -1, 0};
    for (const int threads : {1, 3}) {
        Graph graph;
        std::vector<int> kept;
        struct Sum : Module {
            In<int> x = in<int>("x", 5);
            Out<int> y = out<int>("y", 2);
            Task add = task("add", &Sum::run, pure);
            void run(Frame f) const {
                for (std::size_t i = 0; i < 2; ++i) {
                    f[y][i] = f[x][i] + f[x][i + 1] + f[x][i + 2] + f[x][i + 3];
                }
            }
        };
        struct Source : Module {
            Out<int> y = out<int>("y", 2);
            Task make = task("make", &Source::run, pure);
            void run(Frame f) const {
                for (std::size_t i = 0; i < 2; ++i) f[y][i] = static_cast<int>(2 * f.number() + i) + 1;
            }
        };
        auto& source = graph.add<Source>();
        auto& sum = graph.add<Sum>();
        auto& sink = graph.add(keep(kept, 2));
        peek(graph, source.y, sum.x, initial);
        graph.bind(sum["y"], sink["x"]);
        Pipeline(graph, test_schedule({{1, 1}, {1, 1}, {1, threads}, {1, 1}})).run({.frames = 10});
        std::vector<int> wanted(20);
        for (int i = 0; i < 20; ++i) wanted[static_cast<std::size_t>(i)] = (i - 2) + (i - 1) + i + (i + 1);
        CHECK(kept == wanted);
    }
}

TEST_CASE("a delay feeds the past back, and its circle is one unit") {
    for (const std::size_t frames : {1u, 3u}) {
        const auto build = [frames](Graph& graph, std::vector<int>& kept) {
            auto& source = graph.add(numbers(1));
            auto& delay = graph.add<Delay<int>>("past", 1u, frames, std::vector<int>(frames, 100));
            auto& add = graph.add(task("add", in<int>("a"), in<int>("b"), out<int>("y"),
                                       [](auto a, auto b, auto y) { y[0] = a[0] + b[0]; }));
            auto& sink = graph.add(keep(kept, 1));
            graph.bind(source["y"], add["a"]);
            graph.bind(delay["delayed"], add["b"]);
            graph.bind(add["y"], delay["now"]);
            graph.bind(add["y"], sink["x"]);
        };
        run_everywhere(build, 20, [frames](const std::vector<int>& got) {
            std::vector<int> wanted;
            for (std::size_t k = 0; k < 20; ++k) {
                wanted.push_back(static_cast<int>(k) + 1 + (k < frames ? 100 : wanted[k - frames]));
            }
            CHECK(got == wanted);
        });
        Graph graph;
        std::vector<int> kept;
        build(graph, kept);
        CHECK(structure_of(graph).units.at(1).name == "past.read+add.add+past.write");
    }
}

TEST_CASE("a delay behind a task that skips counts the frames that it sees") {
    const auto build = [](Graph& graph, std::vector<int>& kept) {
        auto& source = graph.add(numbers(1));
        auto& odd = graph.add(task("odd", may_skip, in<int>("x"), out<int>("y"), [](auto x, auto y) {
            y[0] = x[0];
            return x[0] % 2 == 1 ? Flow::ok : Flow::skip;
        }));
        auto& delay = graph.add<Delay<int>>("past");
        auto& step = graph.add(task("step", in<int>("a"), in<int>("b"), out<int>("y"),
                                    [](auto a, auto b, auto y) { y[0] = a[0] - b[0]; }));
        auto& sink = graph.add(keep(kept, 1));
        graph.bind(source["y"], odd["x"]);
        graph.bind(odd["y"], delay["now"]);
        graph.bind(odd["y"], step["a"]);
        graph.bind(delay["delayed"], step["b"]);
        graph.bind(step["y"], sink["x"]);
    };
    run_everywhere(build, 9, [](const std::vector<int>& got) {
        CHECK(got == std::vector<int>{1, 2, 2, 2, 2});
    });
}

TEST_CASE("delays and windows that begin with the wrong number of elements are refused") {
    CHECK_THROWS_WITH(Delay<int>("z", 2, 3, {1, 2}),
                      "delay 'z' of 3 frames x 2 begins with 2 elements: give 6, or none");
    CHECK_THROWS_WITH(Delay<int>("z", 2, 0), "delay 'z' is of 0 frames: give 1 or more");
    CHECK_THROWS_WITH(Window<int>("w", 2, 3, {1}),
                      "window 'w' overlaps by 3 elements, but begins with 1: give 3, or none");
}
