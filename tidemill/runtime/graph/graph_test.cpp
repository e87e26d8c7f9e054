#include "tidemill/runtime/graph/graph.hpp"

#include <array>
#include <complex>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/testbench.hpp"

using namespace tidemill;

namespace {

struct Producer : Module {
    Out<float> y = out<float>("y", 8);
    Task make = task("make", &Producer::nothing);
    void nothing(Frame) {}
};

struct Consumer : Module {
    In<float> x = in<float>("x", 8);
    Task take = task("take", &Consumer::nothing);
    void nothing(Frame) {}
};

/// Two tasks that share state, with room for other tasks between them.
struct Around : Module {
    In<float> first_in = in<float>("first_in", 8);
    Out<float> first_out = out<float>("first_out", 8);
    Task first = task("first", &Around::nothing);
    In<float> second_in = in<float>("second_in", 8);
    Out<float> second_out = out<float>("second_out", 8);
    Task second = task("second", &Around::nothing);
    void nothing(Frame) {}
};

template <internal::TaskWord... Words>
auto pass(const std::string& name, Words... words) {
    return task(name, words..., in<float>("x", 8), out<float>("y", 8), [](auto, auto) { return Flow::ok; });
}

std::vector<std::string> unit_names(const Graph& graph) {
    std::vector<std::string> names;
    for (const ScheduledUnit& unit : structure_of(graph).units) names.push_back(unit.name);
    return names;
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

TEST_CASE("modules of a group carry its name, and groups nest") {
    Graph graph;
    graph.add<Producer>();
    {
        const Graph::Group outer(graph, "rx");
        CHECK(graph.add<Producer>().name() == "rx/producer");
        const Graph::Group inner(graph, "sync");
        CHECK(graph.add<Producer>().name() == "rx/sync/producer");
    }
    CHECK(graph.add<Producer>().name() == "producer_2");
}

TEST_CASE("a module is named after its type, and numbered when there are several") {
    Graph graph;
    CHECK(graph.add<Producer>().name() == "producer");
    CHECK(graph.add<Producer>().name() == "producer_2");
}

TEST_CASE("a module of any type is called in the graph what named() says") {
    Graph graph;
    CHECK(graph.add<Producer>(named("left")).name() == "left");
    CHECK(graph.add<Producer>(named("left")).name() == "left_2");
    CHECK(graph.add(named("right"), pass("own")).name() == "right");
    const Graph::Group group(graph, "rx");
    CHECK(graph.add<Producer>(named("left")).name() == "rx/left");
    CHECK_THROWS_WITH_AS(graph.add<Producer>(named("")),
                         "a module is given an empty name: leave named() out, or give one", GraphError);
    CHECK(Testbench<Producer>(named("alone")).module().name() == "alone");
}

TEST_CASE("binding names both ends when they do not fit") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& consumer = graph.add<Consumer>();
    auto& wide = graph.add(task("wide", in<float>("x", 16), [](auto) {}));
    auto& ints = graph.add(task("ints", in<std::int8_t>("x", 8), [](auto) {}));
    CHECK_THROWS_WITH(
        graph.bind(producer["y"], wide["x"]),
        "producer.y (float32 x 8) -> wide.x (float32 x 16): counts differ; give both the same count, or "
        "let one run more often than the other with stream()");
    CHECK_THROWS_WITH(
        graph.bind(producer["y"], ints["x"]),
        "producer.y (float32 x 8) -> ints.x (int8 x 8): types differ; insert a task that converts");
    CHECK_THROWS_WITH(graph.bind(consumer["x"], wide["x"]), doctest::Contains("the first is an input"));
    CHECK_THROWS_WITH(graph.bind(producer["y"], producer["y"]), doctest::Contains("is an output"));
    CHECK_THROWS_WITH(producer["z"], "module 'producer' has no socket 'z': it has y");
    CHECK_THROWS_WITH(graph.bind(std::vector<float>{1, 2}, consumer.x),
                      "constant of 8 bytes -> consumer.x (float32 x 8): give 32 bytes");
    graph.bind(producer.y, consumer.x);
    CHECK_THROWS_WITH(graph.bind(producer.y, consumer.x), doctest::Contains("bound already"));
    Graph other;
    CHECK_THROWS_WITH(other.bind(producer.y, consumer.x), doctest::Contains("not in graph"));
}

TEST_CASE("constant data for a socket found by its name is checked when it is bound") {
    Graph graph;
    auto& take = graph.add(task("take", in<float>("x", 2), [](auto) {}));
    CHECK_THROWS_WITH(graph.bind(std::vector<int>{1, 2}, take["x"]),
                      "constant of int32 -> take.x (float32 x 2): types differ");
    CHECK_THROWS_WITH(graph.bind(std::vector<float>{1}, take["x"]),
                      "constant of 4 bytes -> take.x (float32 x 2): give 8 bytes");
    CHECK_THROWS_AS(graph.bind(std::vector<float>{1}, SocketRef{}), GraphError);
    graph.bind(std::vector<float>{1, 2}, take["x"]);
    CHECK(faults(graph).empty());
}

TEST_CASE("an input with a default need not be bound, and stands in no chain") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& scale = graph.add(task("scale", in<float>("x", 8), in<float>("gain", 8, or_else(2.0f)),
                                 in<float>("taps", 2, or_else(std::vector<float>{1, 3})), out<float>("y", 8),
                                 [](auto, auto, auto, auto) {}));
    auto& consumer = graph.add<Consumer>();
    graph.chain(producer, scale, consumer);
    CHECK(faults(graph).empty());
    CHECK(graph.source_of(1, 1)->constant.size() == 8 * sizeof(float));
    CHECK(graph.source_of(1, 2)->constant.size() == 2 * sizeof(float));
    CHECK(graph.duplicate().source_of(1, 2)->constant == graph.source_of(1, 2)->constant);
    graph.bind(producer.y, In<float>{&scale, 1, 8});
    CHECK(graph.source_of(1, 1)->module == &producer);
    CHECK_THROWS_WITH_AS(graph.add(task("x", in<int>("x", 3, or_else(std::vector{1, 2})), [](auto) {})),
                         "input 'x' (int32 x 3): 2 values with or_else(); give 1, or 3", GraphError);
    CHECK_THROWS_WITH(graph.add(task("x", in<int>("x", upto(3), or_else(std::vector<int>(4))), [](auto) {})),
                      "input 'x' (int32 x up to 3): 4 values with or_else(); give 1, or up to 3");
    CHECK_THROWS_AS(graph.add(task("x", in<int>("x", 3, or_else(std::vector<int>())), [](auto) {})),
                    GraphError);
}

TEST_CASE("validation tells all faults together") {
    Graph graph;
    graph.add<Consumer>();
    graph.add(pass("lonely", pure, may_repeat));
    const std::string text = faults(graph);
    CHECK(text.find("consumer.x (float32 x 8): nothing feeds it") != std::string::npos);
    CHECK(text.find("lonely.x (float32 x 8): nothing feeds it") != std::string::npos);
    CHECK(text.find("lonely.lonely: may_repeat needs a sequential task") != std::string::npos);
    CHECK(faults(Graph("none")) == "graph 'none' is empty: add modules");
}

TEST_CASE("a cycle is named") {
    Graph graph;
    auto& a = graph.add(pass("a"));
    auto& b = graph.add(pass("b"));
    auto& c = graph.add(pass("c"));
    graph.bind(a["y"], b["x"]);
    graph.bind(b["y"], a["x"]);
    graph.bind(b["y"], c["x"]);
    CHECK(faults(graph) == "these tasks wait for each other: a.a, b.b; break the cycle");
}

TEST_CASE("tasks are ordered by dependence, then by declaration") {
    Graph graph;
    auto& late = graph.add<Consumer>();
    auto& one = graph.add(pass("one"));
    auto& two = graph.add(pass("two"));
    auto& producer = graph.add<Producer>();
    graph.bind(producer["y"], two["x"]);
    graph.bind(producer["y"], one["x"]);
    graph.bind(one["y"], late["x"]);
    CHECK(unit_names(graph) ==
          std::vector<std::string>{"producer.make", "one.one", "consumer.take", "two.two"});
}

TEST_CASE("tasks that share state are one unit, with everything between them") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& around = graph.add<Around>();
    auto& between = graph.add(pass("between"));
    auto& consumer = graph.add<Consumer>();
    graph.bind(producer.y, around.first_in);
    graph.bind(around["first_out"], between["x"]);
    graph.bind(between["y"], around["second_in"]);
    graph.bind(around.second_out, consumer.x);
    const Structure structure = structure_of(graph);
    REQUIRE(structure.units.size() == 3);
    CHECK(structure.units[1].name == "around.first+between.between+around.second");
    CHECK_FALSE(structure.units[1].replicable);
    CHECK_THROWS_WITH(compile(graph, structure, {{1, 1}, {1, 2}, {1, 1}}),
                      doctest::Contains("is sequential"));
}

TEST_CASE("what does not depend on a task that skips runs before it") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& gate = graph.add(pass("gate", may_skip));
    auto& gated = graph.add<Consumer>();
    auto& meter = graph.add(pass("meter"));
    graph.bind(producer["y"], gate["x"]);
    graph.bind(gate["y"], gated["x"]);
    graph.bind(producer["y"], meter["x"]);
    const Structure structure = structure_of(graph);
    CHECK(unit_names(graph) ==
          std::vector<std::string>{"producer.make", "meter.meter", "gate.gate", "consumer.take"});
    CHECK(structure.segments == 2);
    CHECK(structure.order[2].segment == 0);
    CHECK(structure.order[3].segment == 1);
}

TEST_CASE("a task that reads from two branches is refused") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& left = graph.add(pass("left", may_skip));
    auto& right = graph.add(pass("right", may_repeat));
    graph.bind(producer["y"], left["x"]);
    graph.bind(producer["y"], right["x"]);
    const Structure structure = structure_of(graph);
    CHECK(structure.segments == 3);
    CHECK(structure.order[2].segment == 1);
    CHECK(structure.order[2].branch == 0);
    auto& both = graph.add(task("both", in<float>("a", 8), in<float>("b", 8), [](auto, auto) {}));
    graph.bind(left["y"], both["a"]);
    graph.bind(right["y"], both["b"]);
    CHECK(faults(graph) ==
          "both.both reads what follows from left.left and from right.right, which count frames "
          "independently of "
          "each other: read from one of them, or make one depend on the other");
}

TEST_CASE("a label is that of the nearest task before its reader that gives it") {
    Graph graph;
    const auto given = [](int value) { return [value](auto, auto, int& mark) { mark = value; }; };
    const auto labelled = [&](const char* name, int value) {
        return task(name, in<float>("x", 8), out<float>("y", 8), label<int>("mark"), given(value));
    };
    auto& source = graph.add<Producer>();
    auto& far = graph.add(labelled("far", 1));
    auto& near = graph.add(labelled("near", 2));
    auto& between = graph.add(pass("between"));
    auto& reader = graph.add(task("reader", in<float>("x", 8), in<float>("also", 8), label<const int>("mark"),
                                  [](auto, auto, const int&) {}));
    graph.chain(source, far, near, between);
    graph.bind(between["y"], reader["x"]);
    graph.bind(far["y"], reader["also"]);
    const internal::Source* found = graph.source_of(4, reader["mark"].index);
    REQUIRE(found);
    CHECK(found->module == &near);
    CHECK(faults(graph).empty());
}

TEST_CASE("a label that nobody before its reader gives, or two equally near, is a fault that says so") {
    Graph graph;
    auto& a = graph.add(task("a", out<int>("y"), label<int>("mark"), [](auto, int&) {}));
    auto& b = graph.add(task("b", out<int>("y"), label<int>("mark"), [](auto, int&) {}));
    auto& both = graph.add(
        task("both", in<int>("x"), in<int>("z"), label<const int>("mark"), [](auto, auto, const int&) {}));
    auto& other =
        graph.add(task("other", in<int>("x"), label<const double>("mark"), [](auto, const double&) {}));
    graph.bind(a["y"], both["x"]);
    graph.bind(b["y"], both["z"]);
    graph.bind(a["y"], other["x"]);
    const std::string told = faults(graph);
    CHECK(told.find("both.mark: a.mark, b.mark are equally near; bind the one that is meant") !=
          std::string::npos);
    CHECK(told.find("other.mark: no task whose data come to it gives a label 'mark' (float64); put one "
                    "before it") != std::string::npos);
    graph.bind(b["mark"], both["mark"]);
    CHECK(faults(graph).find("equally near") == std::string::npos);
}

TEST_CASE("chain binds last outputs to first inputs, and refuses what is ambiguous") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& middle = graph.add(pass("middle"));
    auto& consumer = graph.add<Consumer>();
    graph.chain(producer, middle, consumer);
    CHECK(unit_names(graph).size() == 3);
    CHECK_THROWS_WITH(graph.chain(consumer, producer), doctest::Contains("0 outputs for 0 inputs"));
}

TEST_CASE("a part of a program stands in a chain like a module, with as many sockets as it has") {
    struct Both {
        SocketRef input;
        std::vector<SocketRef> outputs;
    };
    struct Sum {
        std::array<SocketRef, 2> inputs;
        Out<float> output;
    };
    struct Last {
        In<float> input;
    };
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& a = graph.add(pass("a"));
    auto& b = graph.add(pass("b"));
    auto& add = graph.add(
        task("add", in<float>("x", 8), in<float>("z", 8), out<float>("y", 8), [](auto, auto, auto) {}));
    auto& consumer = graph.add<Consumer>();
    graph.bind(a["y"], b["x"]);
    const Both both{a["x"], {a["y"], b["y"]}};
    CHECK_THROWS_WITH(graph.chain(producer, both, consumer),
                      "chain a -> consumer: 2 outputs for 1 inputs; bind them one by one");
    const Sum sum{{add["x"], add["z"]}, Out<float>{&add, add["y"].index, 8}};
    graph.chain(both, sum, Last{consumer.x});
    CHECK(unit_names(graph).size() == 5);
    CHECK(graph.source_of(4, 0)->module == &add);
    CHECK(graph.source_of(3, 1)->module == &b);
    CHECK_THROWS_WITH(graph.chain(producer, Both{}),
                      doctest::Contains("a socket that no module has declared"));
    CHECK_THROWS_WITH(graph.chain(Last{}, sum),
                      "chain a part -> add: 0 outputs for 2 inputs; bind them one by one");
    CHECK_THROWS_WITH(graph.chain(pass("outside"), consumer), doctest::Contains("not in graph"));
}

TEST_CASE("inside a stage, bytes are shared by sockets that are not alive together") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    SocketRef last = producer["y"];
    for (int i = 0; i < 10; ++i) {
        auto& next = graph.add(pass("pass" + std::to_string(i)));
        graph.bind(last, next["x"]);
        last = next["y"];
    }
    graph.bind(last, graph.add<Consumer>()["x"]);
    const Structure structure = structure_of(graph);
    const Plan whole = compile(graph, structure, {{12, 1}});
    CHECK(whole.stages[0].scratch_bytes == 2 * 64);
    CHECK(whole.segments[0].token_bytes == 0);
    const Plan halves = compile(graph, structure, {{6, 1}, {6, 1}});
    CHECK(halves.segments[0].token_bytes == 64);  // one socket crosses the border
}

TEST_CASE("stages that do not add up are refused") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& consumer = graph.add<Consumer>();
    graph.bind(producer.y, consumer.x);
    const Structure structure = structure_of(graph);
    CHECK_THROWS_WITH(compile(graph, structure, {{1, 1}}), doctest::Contains("the stages take 1 tasks"));
    CHECK_THROWS_WITH(compile(graph, structure, {{2, 1}, {0, 1}}), doctest::Contains("given 0 tasks"));
}

TEST_CASE("a copy that declares its sockets anew is refused") {
    struct Anew : Module {
        Anew() = default;
        Anew(const Anew& other) : Module(other) {}
        Out<int> y = out<int>("y");
        Task make = task("make", &Anew::nothing);
        void nothing(Frame) {}
    };
    Graph graph;
    graph.add<Anew>();
    CHECK_THROWS_WITH(
        graph.clone(0),
        "module 'anew': its copy constructor declares sockets or tasks anew; let it copy those members");
}

TEST_CASE("a copy of a module in a graph is refused: it would be no part of it") {
    Graph graph;
    auto& producer = graph.add<Producer>();
    CHECK_THROWS_WITH(
        [&] { const Producer copy = producer; }(),
        "a copy of module 'producer' is no part of its graph: keep what add() returns by reference, auto&");
    static_assert(!std::is_copy_assignable_v<Producer>);
    CHECK_NOTHROW(graph.clone(0));
    CHECK_NOTHROW(graph.duplicate().clone(0));
    CHECK_THROWS_AS([&] { const Producer copy = producer; }(), GraphError);
}

TEST_CASE("a socket that nobody declared is refused, and has no elements") {
    struct Forgetful : Module {
        In<float> x;
        Out<float> y = out<float>("y", 8);
        Task work = task("work", &Forgetful::nothing);
        void nothing(Frame) {}
    };
    Graph graph;
    auto& producer = graph.add<Producer>();
    auto& forgetful = graph.add<Forgetful>();
    const char* refusal = "a socket that no module has declared: write In<float> x = in<float>(\"x\")";
    CHECK_THROWS_WITH(graph.bind(producer.y, forgetful.x), refusal);
    CHECK_THROWS_WITH(graph.stream(Out<float>{}, graph.add<Consumer>().x), refusal);
    CHECK(forgetful.x.count == 0);
}

TEST_CASE("two sockets or tasks of one name are refused: only the first could be found") {
    struct Twice : Module {
        Out<int> a = out<int>("y");
        Out<int> b = out<int>("y");
        Task first = task("make", &Twice::nothing);
        Task second = task("make", &Twice::nothing);
        void nothing(Frame) {}
    };
    Graph graph;
    graph.add<Twice>();
    CHECK(faults(graph) ==
          "module 'twice' has two tasks named 'make': rename one\n"
          "module 'twice' has two sockets named 'y': rename one");
}

// Each of these took minutes where something went through the whole graph for each of its tasks.
TEST_CASE("graphs of tens of thousands of tasks are built and compiled") {
    constexpr std::size_t kTasks = 30'000;
    const auto copy = [] {
        return task("copy", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0]; });
    };
    const auto check = [&](Graph& graph) {
        const Structure structure = structure_of(graph);
        CHECK(structure.order.size() >= kTasks);
        const std::vector<StageCut> cut{{structure.units.size(), 1}};
        CHECK(compile(graph, structure, cut).steps.size() == structure.order.size());
    };
    Graph chain;
    Graph star;
    Graph segments;
    const auto source = task("source", out<int>("y"), [](auto y) { y[0] = 0; });
    const auto begin = [&](Graph& graph) { return graph.add(source)["y"]; };
    SocketRef end = begin(chain);
    SocketRef middle = begin(star);
    SocketRef last = begin(segments);
    for (std::size_t i = 0; i < kTasks; ++i) {
        auto& next = chain.add(copy());
        chain.bind(end, next["x"]);
        end = next["y"];
        star.bind(middle, star.add(copy())["x"]);
        Module* added = nullptr;
        if (i % 100 < 99) added = &segments.add(copy());
        if (!added)
            added = &segments.add(task("thin", sequential, may_skip, in<int>("x"), out<int>("y"),
                                       [](auto, auto) { return Flow::skip; }));
        segments.bind(last, (*added)["x"]);
        last = (*added)["y"];
    }
    CHECK(chain.module(kTasks).name() == "copy_30000");
    for (Graph* graph : {&chain, &star, &segments}) check(*graph);
}
