#include "tidemill/run/weigh/profiler.hpp"

#include <doctest/doctest.h>

#include "tidemill/run/weigh/cut_bytes.hpp"

namespace tidemill {
namespace {

// Six frames of 80 bytes, of which every third goes on as 8 bytes; `last` also wants what `first` made.
void build(Graph& graph) {
    using Word = std::uint64_t;
    auto& source = graph.add(
        task("source", TaskOptions{}, out<Word>("x", 10), [n = Word{0}](auto x) mutable { x[0] = n++; }));
    auto& first =
        graph.add(task("first", in<Word>("x", 10), out<float>("y", 5), [](auto, auto y) { y[0] = 0; }));
    auto& third = graph.add(
        task("third", TaskOptions{.may_skip = true}, in<Word>("x", 10), out<Word>("z"), [](auto x, auto z) {
            z[0] = x[0];
            return x[0] % 3 == 0 ? Flow::ok : Flow::skip;
        }));
    auto& middle =
        graph.add(task("middle", in<Word>("z"), out<Word>("w"), [](auto z, auto w) { w[0] = z[0]; }));
    auto& last = graph.add(task("last", TaskOptions{}, in<Word>("z"), in<Word>("w"), in<float>("y", 5),
                                [](auto, auto, auto) {}));
    graph.bind(source["x"], first["x"]);
    graph.bind(source["x"], third["x"]);
    graph.bind(third["z"], middle["z"]);
    graph.bind(third["z"], last["z"]);
    graph.bind(middle["w"], last["w"]);
    graph.bind(first["y"], last["y"]);
}

}  // namespace

TEST_CASE("a cut moves each socket that is read behind it once, as often as it is read there") {
    Graph graph;
    build(graph);
    Sequence sequence(graph);
    const RunReport report = sequence.run({.frames = 6});
    REQUIRE(report.units.size() == 5);
    REQUIRE(report.units[1].name == "first.first");
    const double y = 20.0 / 3;  // last runs on every third frame
    const std::vector<double> bytes = cut_bytes(graph, sequence.structure(), report);
    CHECK(bytes[0] == 80);
    CHECK(bytes[1] == doctest::Approx(80 + y));
    CHECK(bytes[2] == doctest::Approx(8.0 / 3 + y));
    CHECK(bytes[3] == doctest::Approx(16.0 / 3 + y));
    CHECK(bytes[4] == 0);
}

TEST_CASE("a profile weighs every unit and tells what a cut behind it moves, in whole numbers") {
    Graph graph;
    build(graph);
    const Profile found = profile(graph, Topology::here(), {.frames = 6});
    REQUIRE(found.tasks.size() == 5);
    CHECK(found.tasks[0].bytes_after == 80);
    CHECK(found.tasks[1].bytes_after == 87);
    CHECK(found.tasks[4].bytes_after == 0);
    for (const ChainTask& task : found.tasks) CHECK(task.weight_us.size() == Topology::here().kinds.size());
}

}  // namespace tidemill
