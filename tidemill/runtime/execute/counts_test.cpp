// Counts that follow from bindings, and defaults of inputs, under every executor.
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"

using namespace tidemill;

namespace {

constexpr std::size_t kCount = 6;

/// As many elements as it is asked for: the frame's number, and so on.
struct Ramp : Module {
    OutAny<int> y = out<int>("y", any);
    Task make = task("make", &Ramp::run, pure);
    void run(Frame f) const { std::iota(f[y].begin(), f[y].end(), static_cast<int>(f.number())); }
};

/// Scales each element, if with nothing else by 10; replicas keep a buffer.
struct Scale : Module {
    InAny<int> x = in<int>("x", any);
    InAny<int> gain = in<int>("gain", as("x"), or_else(10));
    OutAny<int> y = out<int>("y", as("x"));
    Task scale = task("scale", &Scale::run, cloned);
    void run(Frame f) {
        scratch.resize(count_of(x));
        for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] = f[x][i] * f[gain][i];
        std::ranges::copy(scratch, f[y].begin());
    }
    std::vector<int> scratch{};
};

struct Keep : Module {
    In<int> x = in<int>("x", kCount);
    Task keep = task("keep", &Keep::run);
    void run(Frame f) { got.emplace_back(f[x].begin(), f[x].end()); }
    std::vector<std::vector<int>> got{};
};

template <class With>
void under_all_executors(With with) {
    with([](Graph& graph, const RunOptions& options) { Sequence(graph).run(options); });
    with([](Graph& graph, const RunOptions& options) {
        Pipeline(graph, thread_per_task(graph)).run(options);
    });
    with([](Graph& graph, const RunOptions& options) {
        Pipeline(graph, thread_per_task(graph, 2), {.frames = 3}).run(options);
    });
    with([](Graph& graph, const RunOptions& options) { Dynamic(graph, {.workers = 2}).run(options); });
}

}  // namespace

TEST_CASE("counts from the last reader and a default reach all tasks, and replicas, under every executor") {
    under_all_executors([](auto run) {
        Graph graph;
        auto& keep = graph.add<Keep>();
        graph.chain(graph.add<Ramp>(), graph.add<Scale>(named("left")), graph.add<Scale>(named("right")),
                    keep);
        run(graph, {.frames = 200});
        REQUIRE(keep.got.size() == 200);
        for (int n = 0; n < 200; ++n)
            for (int i = 0; i < static_cast<int>(kCount); ++i)
                REQUIRE(keep.got[static_cast<std::size_t>(n)][static_cast<std::size_t>(i)] == 100 * (n + i));
    });
}

TEST_CASE("a task whose count follows runs several times a frame, each on elements of its own") {
    under_all_executors([](auto run) {
        std::vector<int> got;
        Graph graph;
        auto& source = graph.add(task("source", out<int>("y", 6), [n = 0](auto y) mutable {
            for (int& each : y) each = n++;
        }));
        auto& pairs = graph.add(task("pairs", in<int>("x", 2), out<int>("y", 2),
                                     [](auto x, auto y) { std::ranges::copy(x, y.begin()); }));
        auto& negate = graph.add(task("negate", forward<int>("x", any), [](auto x) {
            for (int& each : x) each = -each;
        }));
        auto& take = graph.add(task("take", sequential, in<int>("x", any),
                                    [&](auto x) { got.insert(got.end(), x.begin(), x.end()); }));
        graph.stream(source["y"], pairs["x"]);
        graph.chain(pairs, negate, take);
        run(graph, {.frames = 20});
        REQUIRE(got.size() == 120);
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == -static_cast<int>(i));
    });
}

TEST_CASE("counts go over segments' ends, through switches and loops, and to the stream's end") {
    under_all_executors([](auto run) {
        std::vector<std::vector<int>> got;
        Graph graph;
        auto& source = graph.add(task("source", out<int>("y", 3), [n = 0](auto y) mutable {
            std::iota(y.begin(), y.end(), n++);
            return n > 40 ? Flow::stop : Flow::ok;
        }));
        auto& even =
            graph.add(task("even", may_skip, in<int>("x", any), out<int>("y", as("x")), [](auto x, auto y) {
                std::ranges::copy(x, y.begin());
                return x[0] % 2 == 0 ? Flow::ok : Flow::skip;
            }));
        auto& which = graph.add(task("which", in<int>("x", any), out<std::uint8_t>("c"),
                                     [](auto x, auto c) { c[0] = x[0] % 4 == 0; }));
        auto& branch = graph.add<Switch<int>>("branch", std::uint8_t{2}, std::size_t{3});
        auto& negate = graph.add(task("negate", forward<int>("x", any), [](auto x) {
            for (int& each : x) each = -each;
        }));
        auto& take = graph.add(task("take", sequential, at_end, in<int>("old", any), in<int>("new", any),
                                    [&](auto old, auto fresh) {
                                        got.emplace_back(old.begin(), old.end());
                                        got.back().insert(got.back().end(), fresh.begin(), fresh.end());
                                    }));
        graph.chain(source, even);
        graph.bind(even["y"], which["x"]);
        graph.bind(even["y"], branch["data"]);
        graph.bind(which["c"], branch["control"]);
        graph.bind(branch["out0"], branch["in0"]);
        graph.bind(branch["out1"], negate["x"]);
        graph.bind(negate["x"], branch["in1"]);
        graph.bind(source["y"], take["old"]);
        graph.bind(branch["joined"], take["new"]);
        run(graph, {});
        REQUIRE(got.size() == 21);
        for (int n = 0; n < 40; n += 2) {
            const int sign = n % 4 == 0 ? -1 : 1;
            CHECK(got[static_cast<std::size_t>(n) / 2] ==
                  std::vector{n, n + 1, n + 2, sign * n, sign * (n + 1), sign * (n + 2)});
        }
        CHECK(got.back().empty());
    });
}

TEST_CASE("defaults that vary hold as many elements as were given, one that is bound is not used") {
    std::vector<std::vector<int>> got;
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    const auto add = [&](const char* name) -> Module& {
        return graph.add(task(name, in<int>("x"), in<int>("taps", upto(4), or_else(std::vector{7, 8})),
                              [&](auto, auto taps) { got.emplace_back(taps.begin(), taps.end()); }));
    };
    graph.chain(source, add("without"));
    auto& with = add("with");
    graph.chain(source, with);
    graph.bind(std::vector{1}, with["taps"]);
    Sequence(graph).run({.frames = 1});
    CHECK(got == std::vector<std::vector<int>>{{7, 8}, {1}});
}
