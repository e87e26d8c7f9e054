#include "tidemill/runtime/observe/drawing.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/runtime/observe/internal/drawing.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
    return count;
}

}  // namespace

TEST_CASE("a graph in Graphviz's language has its tasks, bindings and segment borders") {
    Graph graph("thinning");
    build_test_chain(graph);
    const std::string dot = to_dot(graph);
    CHECK(dot.starts_with("digraph \"thinning\" {"));
    CHECK(count_of(dot, "[label=\"counter.next\\nsequential\"") == 1);
    CHECK(count_of(dot, " -> t") == 3);
    CHECK(dot.find("t1 -> t2 [label=\"y -> x (float32 x 3)\"]") != std::string::npos);
    CHECK(count_of(dot, "peripheries=2") == 1);
    CHECK(count_of(dot, "style=dashed") == 1);
    CHECK(dot.find("cluster") == std::string::npos);
    CHECK(std::count(dot.begin(), dot.end(), '{') == std::count(dot.begin(), dot.end(), '}'));
}

TEST_CASE("with a schedule there is a cluster per stage") {
    Graph graph;
    build_test_chain(graph);
    const Schedule schedule = test_schedule({{1, 1}, {1, 3}, {2, 1}});
    const std::string dot = to_dot(graph, {.schedule = &schedule});
    CHECK(count_of(dot, "subgraph cluster_") == 3);
    CHECK(dot.find("label=\"stage 2: 3 threads on big\"") != std::string::npos);
    CHECK(dot.find("label=\"stage 3: 1 thread on big\"") != std::string::npos);
    Schedule any_core = schedule;
    for (Stage& stage : any_core.stages) stage.core_kind.clear();
    CHECK(to_dot(graph, {.schedule = &any_core}).find("label=\"stage 2: 3 threads\"") != std::string::npos);
}

TEST_CASE("a picture has a box per task and stage, a line per bound pair, and balanced tags") {
    Graph graph("a <b> & \"c\"");
    build_test_chain(graph);
    const Schedule schedule = test_schedule({{1, 1}, {1, 3}, {2, 1}});
    const std::string svg = to_svg(graph, {.schedule = &schedule});
    CHECK(svg.find("<title>a &lt;b&gt; &amp; \"c\"</title>") != std::string::npos);
    CHECK(count_of(svg, "marker-end") == 3);
    CHECK(count_of(svg, "stroke-dasharray") == 1);
    CHECK(count_of(svg, "font-weight=\"bold\"") == 3);
    CHECK(count_of(svg, ">thin.thin</text>") == 1);
    CHECK(count_of(svg, "<text") == count_of(svg, "</text>"));
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("boxes of a drawing never share a place, and each lies below what feeds it") {
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y"), [](auto) {}));
    auto& left = graph.add(task("left", in<int>("x"), out<int>("y"), [](auto, auto) {}));
    auto& right = graph.add(task("right", in<int>("x"), out<int>("y"), [](auto, auto) {}));
    auto& join = graph.add(task("join", in<int>("a"), in<int>("b"), in<int>("c"), [](auto, auto, auto) {}));
    graph.bind(source["y"], left["x"]);
    graph.bind(source["y"], right["x"]);
    graph.bind(left["y"], join["a"]);
    graph.bind(right["y"], join["b"]);
    graph.bind(source["y"], join["c"]);
    const Drawing drawing = drawing_of(graph, {});
    REQUIRE(drawing.tasks.size() == 4);
    CHECK(drawing.tasks[1].row == 1);
    CHECK(drawing.tasks[2].row == 1);
    CHECK(drawing.tasks[1].column != drawing.tasks[2].column);
    CHECK(drawing.tasks[3].row == 2);
    CHECK(drawing.groups[0].rows == 3);
    CHECK(drawing.groups[0].columns == 2);
    for (const DrawnLink& link : drawing.links) {
        CHECK(drawing.tasks[link.from].row < drawing.tasks[link.to].row);
    }
}

TEST_CASE("a loop is drawn with its way back") {
    Graph graph;
    auto& source = graph.add(task("source", out<float>("y"), [](auto) {}));
    auto& loop = graph.add<Loop<float>>("loop");
    auto& done = graph.add(task("done", in<float>("x"), out<std::uint8_t>("y"), [](auto, auto) {}));
    auto& sink = graph.add(task("sink", in<float>("x"), [](auto) {}));
    graph.bind(source["y"], SocketRef(loop.first));
    graph.bind(loop.turn, loop.data);
    graph.bind(SocketRef(loop.turn), done["x"]);
    graph.bind(done["y"], SocketRef(loop.control));
    graph.bind(loop.body, loop.next);
    graph.bind(SocketRef(loop.done), sink["x"]);
    const Drawing drawing = drawing_of(graph, {});
    CHECK(std::count_if(drawing.links.begin(), drawing.links.end(),
                        [](const DrawnLink& link) { return link.from >= link.to; }) == 1);
    CHECK(count_of(to_dot(graph), "constraint=false") == 1);
}

TEST_CASE("a report adds times to a drawing") {
    Graph graph;
    build_test_chain(graph);
    const RunReport report = Sequence(graph).run({.frames = 50});
    const Drawing drawing = drawing_of(graph, {.report = &report});
    double load = 0;
    for (const DrawnTask& task : drawing.tasks) {
        REQUIRE(task.mean_us.has_value());
        load += *task.load;
    }
    CHECK(load > 0);
    CHECK(load <= 1);
    CHECK(to_svg(graph, {.report = &report}).find("% busy</text>") != std::string::npos);
}

TEST_CASE("a schedule for another graph is not drawn") {
    Graph graph;
    build_test_chain(graph);
    const Schedule schedule = test_schedule({{3, 1}});
    CHECK_THROWS_AS(to_svg(graph, {.schedule = &schedule}), ScheduleError);
}
