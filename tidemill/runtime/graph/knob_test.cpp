#include "tidemill/runtime/graph/knob.hpp"

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/graph/testbench.hpp"

using namespace tidemill;

namespace {

struct Amp : Module {
    explicit Amp(double initial = 1) : gain(knob("gain", initial, Range{0, 100})) {}
    Knob<double> gain;
    In<double> x = in<double>("x");
    Out<double> y = out<double>("y");
    Task run = task("run", &Amp::amplify, pure);
    Knob<std::vector<std::int8_t>> late = knob("late", std::vector<std::int8_t>(3));
    void amplify(Frame f) const { f[y][0] = f[gain] * f[x][0] + f[late][2]; }
};

}  // namespace

TEST_CASE("a testbench holds a knob where it begins until it is set, and refuses what it cannot be") {
    Testbench<Amp> bench;
    bench.feed(bench->x, {3}).step();
    CHECK(bench.read(bench->y)[0] == 3);
    bench.set(bench->gain, 2.0, bench->late, std::vector<std::int8_t>{0, 0, 1}).step();
    CHECK(bench.read(bench->y)[0] == 7);
    CHECK_THROWS_WITH(bench.set(bench->gain, -1.0), "amp.gain: -1 is out of its range; give 0 to 100");
    CHECK_THROWS_WITH(bench.feed("gain", {1.0}), "amp.gain is a knob: it is set, not fed");
}

TEST_CASE("a knob is no input that anything could be bound to, and chain() passes it by") {
    Graph graph;
    auto& source = graph.add(task("source", out<double>("y"), [](auto y) { y[0] = 1; }));
    auto& amp = graph.add<Amp>();
    CHECK_THROWS_WITH(graph.bind(source["y"], amp["gain"]),
                      "amp.gain (float64 x 1) is a knob: set() gives it values while the stream runs, bind() "
                      "nothing");
    graph.chain(source, amp);
    CHECK(structure_of(graph).units.size() == 2);
}

TEST_CASE("a knob begins with a number in its range, or its module is not made") {
    CHECK_THROWS_WITH(Amp(101), ".gain: 101 is out of its range; give 0 to 100");
    CHECK_THROWS_AS(Amp(std::numeric_limits<double>::infinity()), GraphError);
}

TEST_CASE("a knob is found by its name and type") {
    Amp amp;
    CHECK(amp.find_knob<double>("gain").index == amp.gain.index);
    CHECK(amp.find_knob<std::vector<std::int8_t>>("late").count == 3);
    CHECK_THROWS_WITH(amp.find_knob<float>("gain"), ".gain is a knob of float64 x 1: ask for a Knob of that");
    CHECK_THROWS_WITH(amp.find_knob<std::int8_t>("late"),
                      ".late is a knob of int8 x 3: ask for a Knob of that");
    CHECK_THROWS_WITH(amp.find_knob<double>("x"), ".x is no knob: bind data to it");
}

TEST_CASE("numbers become a value of a knob if its type has them") {
    Graph graph;
    const auto& amp = graph.add<Amp>();
    const auto bytes = [&](std::vector<double> numbers) {
        return bytes_of_numbers(amp, amp.late.index, numbers);
    };
    CHECK(numbers_of(amp.sockets()[amp.late.index], bytes({1, -128, 127})) ==
          std::vector<double>{1, -128, 127});
    CHECK_THROWS_WITH(bytes({1, 128, 0}), "amp.late: 128 is no int8; give one");
    CHECK_THROWS_WITH(bytes({1, 0.5, 0}), "amp.late: 0.5 is no int8; give one");
    CHECK_THROWS_WITH(bytes({1, 2}), "amp.late: 2 numbers for a knob of 3; give 3");
}

TEST_CASE("a layout knows its knobs by their names, and a graph without any has none of it in its plan") {
    Graph graph;
    graph.bind(std::vector<double>{1}, graph.add<Amp>().x);
    const KnobLayout layout = knob_layout_of(graph);
    CHECK(layout.bytes == 64 + 3);
    CHECK(layout.named("amp.late").offset == 64);
    CHECK_THROWS_WITH(layout.named("amp.x"), "no knob 'amp.x': there are amp.gain, amp.late");
    Graph without;
    auto& source = without.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = without.add(task("sink", in<int>("x"), [](auto) {}));
    without.chain(source, sink);
    const Structure structure = structure_of(without);
    const Plan plan = compile(without, structure, {{2, 1}});
    CHECK(!plan.has_knobs);
    CHECK(plan.segments[0].token_bytes == 0);
}
