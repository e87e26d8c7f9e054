#include <cstdint>
#include <future>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using internal::test_schedule;

namespace {

struct Kept {
    std::vector<std::uint64_t> frames;
    std::vector<float> values;
};

/// Keeps frame numbers and values.
struct Keep : Module {
    explicit Keep(Kept& all) : kept(&all) {}
    In<float> x = in<float>("x");
    Task take = task("take", &Keep::run);
    Kept* kept;
    void run(Frame f) {
        kept->frames.push_back(f.number());
        kept->values.push_back(f[x][0]);
    }
};

void build(Graph& graph, Kept& kept) {
    auto& source = graph.add<internal::TestCounter>();
    auto& third = graph.add(task("third", may_skip, may_repeat, in<std::uint64_t>("x"), out<float>("y"),
                                 [left = 0](auto x, auto y) mutable {
                                     if (x[0] % 3 != 0) return Flow::skip;
                                     if (left == 0) left = 5;
                                     y[0] = static_cast<float>(10 * x[0]) + static_cast<float>(left);
                                     return --left > 0 ? Flow::again : Flow::ok;
                                 }));
    auto& keep = graph.add<Keep>(kept);
    graph.bind(source.value, third["x"]);
    graph.bind(third["y"], keep["x"]);
}

Kept run(std::uint32_t batch, std::uint64_t frames, std::uint64_t resumed = 0) {
    Kept kept;
    Graph graph;
    build(graph, kept);
    Pipeline pipeline(graph, test_schedule({{1, 1}, {1, 1}, {1, 1}}), {.frames = batch});
    pipeline.run({.frames = frames});
    if (resumed > 0) pipeline.resume({.frames = resumed});
    return kept;
}

}  // namespace

TEST_CASE("frames are the same however many of them stages hand over at a time") {
    const Kept one = run(1, 20);
    CHECK(one.frames.size() == 35);
    for (const std::uint32_t batch : {2u, 3u, 7u, 100u}) {
        CAPTURE(batch);
        const Kept some = run(batch, 20);
        CHECK(some.frames == one.frames);
        CHECK(some.values == one.values);
        const Kept twice = run(batch, 11, 9);
        CHECK(twice.frames == one.frames);
        CHECK(twice.values == one.values);
    }
}

TEST_CASE("tokens grow with the batch, and the report says so") {
    std::size_t bytes_of_one = 0;
    for (const std::uint32_t batch : {1u, 4u}) {
        Kept kept;
        Graph graph;
        build(graph, kept);
        const RunReport report =
            Pipeline(graph, test_schedule({{1, 1}, {1, 1}, {1, 1}}), {.frames = batch}).run({.frames = 8});
        if (batch == 1) bytes_of_one = report.token_bytes();
        CHECK(report.token_bytes() == batch * bytes_of_one);
    }
}

TEST_CASE("what a task emits goes on when its input is done, and does not wait for a full batch") {
    // The source waits for the first frame to arrive at the end: it hangs if that frame waited for others.
    Graph graph;
    std::promise<void> arrived;
    auto& source =
        graph.add(task("source", out<int>("y"), [n = 0, here = arrived.get_future().share()](auto y) mutable {
            if (n == 8) here.wait();
            y[0] = n++;
        }));
    auto& first = graph.add(task("first", may_skip, in<int>("x"), out<int>("y"), [](auto x, auto y) {
        y[0] = x[0];
        return x[0] % 100 == 0 ? Flow::ok : Flow::skip;
    }));
    auto& keep = graph.add(task("keep", in<int>("x"), [&](auto x) {
        if (x[0] == 0) arrived.set_value();
    }));
    graph.chain(source, first, keep);
    const RunReport report =
        Pipeline(graph, test_schedule({{2, 1}, {1, 1}}), {.frames = 8}).run({.frames = 201});
    CHECK(report.delivered == 3);
}

TEST_CASE("a batch of no frames is refused") {
    Graph graph;
    Kept kept;
    build(graph, kept);
    CHECK_THROWS_WITH(Pipeline(graph, test_schedule({{3, 1}}), {.frames = 0}),
                      "a stage that hands over 0 frames at a time; give 1 or more");
}

TEST_CASE("a thread per task, with replicas, makes the same frames") {
    const Kept one = run(1, 20);
    for (const int replicas : {1, 2, 3}) {
        Kept kept;
        Graph graph;
        build(graph, kept);
        const Schedule schedule = thread_per_task(structure_of(graph), replicas);
        CHECK(schedule.stages.size() == 3);
        Pipeline(graph, schedule).run({.frames = 20});
        CHECK(kept.values == one.values);
    }
    Graph graph;
    internal::build_test_chain(graph);
    const Schedule schedule = thread_per_task(structure_of(graph), 3);
    CHECK(schedule.thread_count() == 1 + 3 + 1 + 1);
    CHECK(Pipeline(graph, schedule).run({.frames = 20}).delivered == 10);
}
