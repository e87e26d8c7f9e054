#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/testbench.hpp"

using namespace tidemill;

namespace {

template <class Check>
void under_each_executor(Graph& graph, const RunOptions& options, Check check) {
    Sequence(graph).run(options);
    check();
    Pipeline(graph, thread_per_task(graph), {.frames = 3}).run(options);
    check();
    Dynamic(graph, {.workers = 2}).run(options);
    check();
}

/// Knows of each of its calls where the label's elements begin.
struct Finder : Module {
    explicit Finder(std::size_t count) : x(in<int>("x", count)), run(task("run", &Finder::find)) {}
    In<int> x;
    Label<const int> first = label<const int>("first");
    Task run;

    void find(Frame f) {
        const ElementPosition behind = scaled(f.offset(first), x.count, 1);
        CHECK(behind == ElementPosition{static_cast<std::uint64_t>(f[x][0] - f[first])});
        calls += 1;
    }
    int calls = 0;
};

/// Takes a time label and gives it again, later.
struct Stamp : Module {
    In<int> x = in<int>("x");
    Label<const double> since = label<const double>("time", "since");
    Label<double> time = label<double>("time");
    Out<int> y = out<int>("y");
    Task run = task("run", &Stamp::stamp, pure);

    void stamp(Frame f) const {
        f[time] = f[since] + 100;
        f[y][0] = f[x][0];
    }
};

}  // namespace

TEST_CASE("a label goes with its frame over tasks that skip and repeat, to whoever reads it") {
    Graph graph;
    auto& source =
        graph.add(task("source", out<int>("y"), label<double>("time"), [n = 0](auto y, double& time) mutable {
            y[0] = n;
            time = 0.5 * n++;
            return n == 40 ? Flow::stop : Flow::ok;
        }));
    auto& twice = graph.add(task("twice", sequential, may_skip, may_repeat, in<int>("x"), out<int>("y"),
                                 [more = false](auto x, auto y) mutable {
                                     y[0] = x[0];
                                     if (x[0] % 3 == 0) return Flow::skip;
                                     more = !more;
                                     return more ? Flow::again : Flow::ok;
                                 }));
    auto& between =
        graph.add(task("between", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0]; }));
    std::vector<double> read;
    auto& reader =
        graph.add(task("reader", in<int>("x"), label<const double>("time"), [&](auto x, const double& time) {
            CHECK(time == 0.5 * x[0]);
            read.push_back(time);
        }));
    graph.chain(source, twice, between, reader);
    Pipeline(graph, thread_per_task(graph)).run();
    CHECK(read.size() == 2 * 26);
}

TEST_CASE("a task may read a label and give it anew to those behind it") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y"), label<double>("time"),
                                  [n = 0](auto y, double& time) mutable { time = y[0] = n++; }));
    auto& stamp = graph.add<Stamp>();
    std::vector<double> read;
    auto& reader = graph.add(task("reader", in<int>("x"), label<const double>("time"),
                                  [&](auto x, const double& time) { read.push_back(time - x[0]); }));
    graph.chain(source, stamp, reader);
    under_each_executor(graph, {.frames = 50}, [&] {
        CHECK(read == std::vector<double>(50, 100));
        read.clear();
    });
}

TEST_CASE("a task that runs several times per frame reads the label of what its first element came from") {
    // Per frame: the owner 6 times, the slow reader 4 times, the fast one 12 times.
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y", 2), label<int>("first"),
                                  [n = 0](auto y, int& first) mutable {
                                      first = n;
                                      for (int& each : y) each = n++;
                                  }));
    std::vector<int> slow;
    std::vector<int> fast;
    auto& threes = graph.add(
        task("threes", sequential, in<int>("x", 3), label<const int>("first"), [&](auto x, const int& first) {
            CHECK(first == x[0] / 2 * 2);
            slow.push_back(first);
        }));
    auto& ones = graph.add(
        task("ones", sequential, in<int>("x"), label<const int>("first"), [&](auto x, const int& first) {
            CHECK(first == x[0] / 2 * 2);
            fast.push_back(first);
        }));
    auto& all = graph.add(task("all", sequential, in<int>("x", 12), [](auto) {}));
    graph.stream(source["y"], threes["x"]);
    graph.stream(source["y"], ones["x"]);
    graph.stream(source["y"], all["x"]);
    const std::vector<int> expected{0, 2, 6, 8};
    Sequence(graph).run({.frames = 1});
    CHECK(slow == expected);
    CHECK(fast.size() == 12);
    Pipeline(graph, thread_per_task(graph), {.frames = 2}).run({.frames = 20});
    Dynamic(graph, {.workers = 2}).run({.frames = 20});
    CHECK(slow.size() == 4 * 41);
}

TEST_CASE("a label's reader is told how far behind its first element it begins") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y", 10), label<int>("first"),
                                  [n = 0](auto y, int& first) mutable {
                                      first = n;
                                      for (int& each : y) each = n++;
                                  }));
    auto& threes = graph.add<Finder>(3);
    auto& ones = graph.add<Finder>(1);
    auto& forties = graph.add<Finder>(40);
    for (Finder* finder : {&threes, &ones, &forties}) graph.stream(source["y"], finder->x);
    under_each_executor(graph, {.frames = 2}, [] {});
    CHECK(threes.calls == 3 * 2 * 40);
    CHECK(forties.calls == 3 * 2 * 3);
}

TEST_CASE("at the stream's end a label that is read is a value made of nothing") {
    Graph graph;
    std::vector<int> read;
    auto& source = graph.add(
        task("source", out<int>("y"), label<int>("mark"), [](auto y, int& mark) { y[0] = mark = 7; }));
    auto& last = graph.add(task("last", sequential, at_end, in<int>("x"), label<const int>("mark"),
                                [&](auto, const int& mark) { read.push_back(mark); }));
    graph.chain(source, last);
    Sequence(graph).run({.frames = 2, .finish = true});
    CHECK(read == std::vector<int>{7, 7, 0});
}

TEST_CASE("a testbench feeds the labels that a module reads, and reads those that it gives") {
    Testbench<Stamp> bench;
    bench.feed(bench->x, {3}).feed(bench->since, 20).step();
    CHECK(bench.read(bench->time) == 120);
}
