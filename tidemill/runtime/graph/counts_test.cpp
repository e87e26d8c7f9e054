// Counts that follow from bindings: in whatever order these are made, and what is refused.
#include <array>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/graph/window.hpp"

using namespace tidemill;

namespace {

/// As long as what it is bound to, on both sides.
struct Copy : Module {
    InAny<float> x = in<float>("x", any);
    OutAny<float> y = out<float>("y", as("x"));
    Task copy = task("copy", &Copy::run, pure);
    void run(Frame f) const { std::ranges::copy(f[x], f[y].begin()); }
};

auto source(std::size_t count) {
    return task("source", out<float>("y", count), [](auto) {});
}

auto sink(std::size_t count) {
    return task("sink", in<float>("x", count), [](auto) {});
}

std::string faults(const Graph& graph) {
    try {
        structure_of(graph);
        return "";
    } catch (const GraphError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a count goes through a chain of modules that have none, in whatever order they are bound") {
    const std::uint32_t seed = std::random_device()();
    MESSAGE("seed ", seed);
    std::mt19937 random(seed);
    for (int trial = 0; trial < 50; ++trial) {
        Graph graph;
        std::vector<SocketRef> ends{graph.add(source(7))["y"]};
        std::array<Copy*, 6> copies;
        for (Copy*& copy : copies) copy = &graph.add<Copy>();
        for (Copy* copy : copies) ends.insert(ends.end(), {copy->x, copy->y});
        ends.push_back(graph.add(task("last", in<float>("x", any), [](auto) {}))["x"]);
        std::vector<std::size_t> order{0, 2, 4, 6, 8, 10, 12};
        std::ranges::shuffle(order, random);
        for (const std::size_t at : order) graph.bind(ends[at], ends[at + 1]);
        for (const SocketRef& end : ends) REQUIRE(end.module->count_of(end) == 7);
        CHECK(faults(graph).empty());
    }
}

TEST_CASE("a reader's count, and that of constant data, go against the stream") {
    Graph graph;
    auto& any_source = graph.add(task("source", out<float>("y", any), [](auto) {}));
    auto& copy = graph.add<Copy>();
    auto& other = graph.add<Copy>();
    graph.chain(any_source, copy, graph.add(sink(5)));
    CHECK(any_source.count_of(any_source["y"]) == 5);
    graph.bind(std::vector<float>(3), other.x);
    CHECK(other.count_of(other.y) == 3);
    CHECK(faults(graph).empty());
}

TEST_CASE(
    "a socket is as long as another one of its module, also of a fixed one, another task's and in turn") {
    struct Several : Module {
        InAny<float> a = in<float>("a", as("c"));
        OutAny<int> b = out<int>("b", as("a"));
        Task first = task("first", &Several::run);
        In<char> c = in<char>("c", 9);
        Task second = task("second", &Several::run);
        void run(Frame) {}
    };
    Graph graph;
    const auto& several = graph.add<Several>();
    CHECK(several.count_of(several.b) == 9);
    CHECK(several.b.count == 0);
}

TEST_CASE("counts that contradict each other are refused where they meet, and what fits stays bound") {
    Graph graph;
    auto& copy = graph.add<Copy>();
    graph.chain(graph.add(source(8)), copy);
    CHECK_THROWS_WITH_AS(
        graph.chain(copy, graph.add(sink(16))),
        "copy.y (float32 x 8) -> sink.x (float32 x 16): counts differ; give both the same count, or "
        "let one run more often than the other with stream()",
        GraphError);
    CHECK_THROWS_WITH_AS(
        graph.bind(std::vector<float>(3), graph.add(task("two", in<float>("a", 2), in<float>("b", as("a")),
                                                         [](auto, auto) {}))["b"]),
        "constant of 12 bytes -> two.b (float32 x 2): give 8 bytes", GraphError);
    graph.chain(copy, graph.add(sink(8)));
    CHECK(copy.count_of(copy.y) == 8);
}

TEST_CASE("a count that stays open is one fault for all that hang on it; a stream says none") {
    Graph graph;
    auto& first = graph.add(task("first", out<float>("y", any), [](auto) {}));
    graph.chain(first, graph.add<Copy>(), graph.add(task("last", in<float>("x", any), [](auto) {})));
    CHECK(faults(graph) ==
          "first.y (float32 x any): no bind() says how many elements; give one of the sockets that it is "
          "bound to a count");
    Graph streams;
    auto& open = streams.add(task("open", in<float>("x", any), [](auto) {}));
    streams.stream(streams.add(source(8))["y"], open["x"]);
    CHECK(faults(streams).starts_with("open.x (float32 x any): no bind() says how many elements"));
}

TEST_CASE("a count that is known from a binding may be streamed") {
    Graph graph;
    auto& copy = graph.add<Copy>();
    auto& two = graph.add(task("two", in<float>("x", 2), [](auto) {}));
    graph.chain(graph.add(source(8)), copy);
    graph.stream(copy["y"], two["x"]);
    CHECK(structure_of(graph).order.back().firings == 4);
}

TEST_CASE("what cannot follow is refused in words") {
    Graph graph;
    CHECK_THROWS_WITH_AS(graph.add(task("lost", in<int>("x"), out<int>("y", as("z")), [](auto, auto) {})),
                         "module 'lost' has no socket 'z': it has x, y", GraphError);
    CHECK_THROWS_WITH_AS(
        graph.add(task("lost", in<int>("x", upto(4)), out<int>("y", as("x")), [](auto, auto) {})),
        "lost.y (int32 x any) is as long as lost.x (int32 x up to 4), which varies: declare both with upto()",
        GraphError);
    CHECK_THROWS_WITH_AS(graph.add(task("lost", in<int>("x", any, or_else(std::vector{1, 2})), [](auto) {})),
                         "input 'x' (int32 x any): 2 values with or_else(); give 1", GraphError);
    CHECK_THROWS_WITH_AS(
        graph.add(task("lost", in<int>("x", any), marks<const int>("gap", "x"), [](auto, auto) {})),
        doctest::Contains("marks are read on an input of the same task, declared before them, of one count"),
        GraphError);
    auto& varying = graph.add(task("varying", out<float>("y", upto(4)), [](auto) {}));
    CHECK_THROWS_WITH_AS(graph.chain(varying, graph.add<Copy>()),
                         doctest::Contains("declare both with upto(), or neither"), GraphError);
    auto& copy = graph.add<Copy>();
    CHECK_THROWS_AS(graph.bind(std::vector<float>{}, copy.x), GraphError);
    CHECK(copy.count_of(copy.x) == 0);
}

TEST_CASE("a default of one value is as long as the socket that its input follows") {
    Graph graph;
    auto& scale = graph.add(task("scale", in<float>("x", any), in<float>("gain", as("x"), or_else(2.0f)),
                                 out<float>("y", as("x")), [](auto, auto, auto) {}));
    CHECK(faults(graph).find("scale.gain (float32 x any): nothing feeds it") != std::string::npos);
    graph.chain(graph.add(source(6)), scale);
    CHECK(faults(graph).empty());
    CHECK(graph.source_of(0, 1)->constant.size() == 6 * sizeof(float));
}

TEST_CASE("copies of a task, of a graph and of a module have counts of their own") {
    Graph graph;
    const auto negate = task("negate", in<float>("x", any), out<float>("y", as("x")), [](auto, auto) {});
    auto& one = graph.add(negate);
    auto& two = graph.add(negate);
    Graph before = graph.duplicate();
    graph.bind(graph.add(source(4))["y"], one["x"]);
    graph.bind(graph.add(source(5))["y"], two["x"]);
    CHECK(one.count_of(one["y"]) == 4);
    CHECK(two.count_of(two["y"]) == 5);
    CHECK(before.module(0).count_of(one["y"]) == 0);
    const Graph after = graph.duplicate();
    CHECK(after.module(1).count_of(two["y"]) == 5);
    CHECK(identity_of(after) == identity_of(graph));
    CHECK(graph.clone(1)->count_of(two["y"]) == 5);
}

TEST_CASE("a count comes through a delay's circle and from a window") {
    Graph graph;
    auto& add = graph.add(task("add", in<float>("x", any), in<float>("past", as("x")),
                               out<float>("y", as("x")), [](auto, auto, auto) {}));
    auto& past = graph.add<Delay<float>>("past", 3);
    graph.bind(past["delayed"], add["past"]);
    graph.bind(add["y"], past["now"]);
    auto& copy = graph.add<Copy>();
    graph.bind(copy["y"], add["x"]);
    CHECK(copy.count_of(copy.x) == 3);
    auto& window = graph.add<Window<float>>("window", 2, 1);
    graph.bind(graph.add(source(2))["y"], window["fresh"]);
    graph.chain(window, copy);
    CHECK(faults(graph).empty());
}

TEST_CASE("a testbench learns a count from what is fed, or is told it") {
    Testbench<Copy> b;
    CHECK_THROWS_WITH_AS(b.step(),
                         "copy.x (float32 x any): feed what says how many elements it has, or set_count()",
                         GraphError);
    b.feed(b->x, {1, 2, 3}).step();
    CHECK(b.read(b->y).size() == 3);
    CHECK(b.read(b->y)[2] == 3);
    CHECK_THROWS_WITH_AS(b.feed(b->x, {1, 2, 3, 4}), "4 values -> copy.x (float32 x 3): too many",
                         GraphError);
    CHECK_THROWS_WITH_AS(b.set_count(b->y, 4),
                         "copy.y (float32 x 3) has its count: make another testbench for another one",
                         GraphError);
    Testbench ones{task("ones", out<int>("y", any), [](auto y) { std::ranges::fill(y, 1); })};
    ones.set_count((*ones)["y"], 5).step();
    CHECK(ones.read<int>("y").size() == 5);
    CHECK(ones.read<int>("y")[4] == 1);
}
