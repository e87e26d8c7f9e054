// Tasks whose errors end frames and not the stream.
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/graph/testbench.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/sequence.hpp"

using namespace tidemill;

namespace {

auto numbers() {
    return task("numbers", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; });
}

int without_sevens(int x) {
    if (x % 7 == 3) throw std::runtime_error("a bad " + std::to_string(x));
    return 2 * x;
}

std::vector<int> expected(int frames) {
    std::vector<int> all;
    for (int n = 0; n < frames; ++n)
        if (n % 7 != 3) all.push_back(2 * n);
    return all;
}

void check_report(const RunReport& report) {
    REQUIRE(report.errors.size() == 1);
    const TaskErrors& errors = report.errors.front();
    CHECK(errors.task == "halved.halved");
    CHECK(errors.frames == 14);
    CHECK(errors.first_frame == 3);
    CHECK(errors.first == "a bad 3");
    CHECK(error_lines(report) == "errors     halved.halved ended 14 frames; the first, 3: a bad 3\n");
}

template <class... Words>
void check_under_all(Words... words) {
    const auto run = [&](auto with) {
        std::vector<int> got;
        Graph graph;
        auto& halved = graph.add(task("halved", words..., in<int>("x"), out<int>("y"),
                                      [](auto x, auto y) { y[0] = without_sevens(x[0]); }));
        auto& sink = graph.add(task("sink", sequential, in<int>("x"), [&](auto x) { got.push_back(x[0]); }));
        graph.chain(graph.add(numbers()), halved, sink);
        check_report(with(graph));
        CHECK(got == expected(100));
    };
    run([](Graph& graph) { return Sequence(graph).run({.frames = 100}); });
    run([](Graph& graph) { return Sequence(graph).run({.frames = 100, .statistics = false}); });
    run([](Graph& graph) {
        return Pipeline(graph, thread_per_task(graph), {.frames = 3}).run({.frames = 100});
    });
    run([](Graph& graph) { return Dynamic(graph, {.workers = 3}).run({.frames = 100}); });
}

}  // namespace

TEST_CASE("a frame on which a task throws is a hole, counted, with the first error told") {
    check_under_all(pure, skip_errors);
    check_under_all(cloned, skip_errors);
}

TEST_CASE("where a task with state throws, its frames are numbered anew behind it") {
    check_under_all(skip_errors);
}

TEST_CASE("replicas count together, and tell the error of the least frame") {
    Graph graph;
    auto& halved = graph.add(task("halved", pure, skip_errors, in<int>("x"), out<int>("y"),
                                  [](auto x, auto y) { y[0] = without_sevens(x[0]); }));
    graph.chain(graph.add(numbers()), halved);
    Schedule schedule = thread_per_task(graph);
    schedule.stages[1].threads = 3;
    check_report(Pipeline(graph, schedule).run({.frames = 100}));
}

TEST_CASE("each run tells its own errors, also after one that failed") {
    Graph graph;
    auto& halved = graph.add(task("halved", pure, skip_errors, in<int>("x"), out<int>("y"),
                                  [](auto x, auto y) { y[0] = without_sevens(x[0]); }));
    auto& sink = graph.add(task("sink", sequential, in<int>("x"), [](auto x) {
        if (x[0] == 8) throw std::runtime_error("enough");
    }));
    graph.chain(graph.add(numbers()), halved, sink);
    Sequence sequence(graph);
    CHECK_THROWS_AS(sequence.run(), FrameError);
    CHECK(sequence.run({.frames = 2}).errors.empty());
    CHECK(sequence.resume({.frames = 9}).errors.front().frames == 1);
}

TEST_CASE("at the stream's end an error is the end of the task's frames") {
    Graph graph;
    std::vector<int> got;
    auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable {
        y[0] = n;
        return n++ < 5 ? Flow::ok : Flow::stop;
    }));
    auto& gather = graph.add(task("gather", skip_errors, may_repeat, at_end, in<int>("x"), out<int>("y"),
                                  [left = 2](auto x, auto y) mutable {
                                      if (!x.empty()) return Flow::skip;
                                      if (left-- == 0) throw std::runtime_error("no more");
                                      y[0] = left;
                                      return Flow::again;
                                  }));
    auto& sink = graph.add(task("sink", sequential, in<int>("x"), [&](auto x) { got.push_back(x[0]); }));
    graph.chain(source, gather, sink);
    const RunReport report = Pipeline(graph, thread_per_task(graph)).run();
    CHECK(got == std::vector{1, 0});
    REQUIRE(report.errors.size() == 1);
    CHECK(report.errors.front().first == "no more");
}

TEST_CASE("a task that takes batches is given one frame at a time where its errors are to be skipped") {
    struct Batched : Module {
        In<int> x = in<int>("x");
        Out<int> y = out<int>("y");
        Task run = task("run", &Batched::work, skip_errors, pure, in_batches_of<8>);
        void work(Batch batch) const {
            for (std::size_t i = 0; i < batch.size(); ++i) batch[i][y][0] = without_sevens(batch[i][x][0]);
        }
    };
    Graph graph;
    std::vector<int> got;
    auto& batched = graph.add<Batched>();
    auto& sink = graph.add(task("sink", sequential, in<int>("x"), [&](auto x) { got.push_back(x[0]); }));
    graph.chain(graph.add(numbers()), batched, sink);
    const RunReport report = Pipeline(graph, thread_per_task(graph), {.frames = 8}).run({.frames = 100});
    CHECK(got == expected(100));
    CHECK(report.errors.front().frames == 14);
}

TEST_CASE("what is no std::exception is counted, too, and the report's JSON tells all") {
    Graph graph;
    graph.add(task("source", skip_errors, out<int>("y"), [n = 0](auto) mutable {
        if (n++ < 2) throw 7;
    }));
    const RunReport report = Sequence(graph).run({.frames = 4});
    const std::string text = to_json(report);
    CHECK(text.find("not a std::exception") != std::string::npos);
    CHECK(text.find(R"("frames": 2,)") != std::string::npos);
}

TEST_CASE("a testbench lets errors through, for tests to see") {
    Testbench bench{task("bad", skip_errors, out<int>("y"), [](auto) { throw std::runtime_error("bad"); })};
    CHECK_THROWS_AS(bench.step(), std::runtime_error);
}
