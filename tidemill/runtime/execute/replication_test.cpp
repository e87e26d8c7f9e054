#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"

using namespace tidemill;

namespace {

using Words = std::vector<long>;

/// Numbers -> what is tested -> a list of what came out.
void between_numbers_and(Words& words, Graph& graph, Module& tested) {
    auto& numbers = graph.add(task("numbers", out<long>("x"), [n = 0L](auto x) mutable { x[0] = n++; }));
    auto& keep = graph.add(task("keep", in<long>("x"), [&words](auto x) { words.push_back(x[0]); }));
    graph.chain(numbers, tested, keep);
}

using Build = std::function<void(Graph&, Words&)>;

/// In order, by tasks, and in a pipeline where three threads run whatever several may run: the same words.
Words same_everywhere(const Build& build) {
    constexpr std::uint64_t kFrames = 5000;
    const auto outcome = [&](const auto& run) {
        Words words;
        Graph graph;
        build(graph, words);
        run(graph);
        return words;
    };
    const Words in_order = outcome([](Graph& g) { Sequence(g).run({.frames = kFrames}); });
    CHECK(outcome([](Graph& g) { Dynamic(g, {.workers = 3}).run({.frames = kFrames}); }) == in_order);
    for (int round = 0; round < 3; ++round) {
        CHECK(outcome([](Graph& g) {
                  Pipeline(g, thread_per_task(structure_of(g), 3)).run({.frames = kFrames});
              }) == in_order);
    }
    return in_order;
}

/// The same for a task with an input x and an output y, made by `make`.
template <class Make>
void check_without_word(Make make) {
    const Words kept =
        same_everywhere([&](Graph& g, Words& words) { between_numbers_and(words, g, g.add(make())); });
    CHECK(kept.size() == 5000);
}

/// Lines that each frame writes to a file.
std::string lines_of(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
}

std::FILE* shared_file = nullptr;

/// Runs what `build` adds to a graph and its numbers in three threads, and reads what it wrote.
template <class Build>
void check_file_is_in_order(Build build) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    shared_file = file.get();
    Graph graph;
    auto& numbers = graph.add(task("numbers", out<long>("x"), [n = 0L](auto x) mutable { x[0] = n++; }));
    graph.chain(numbers, build(graph));
    Pipeline(graph, thread_per_task(structure_of(graph), 3)).run({.frames = 2000});
    std::string expected;
    for (int n = 0; n < 2000; ++n) expected += fmt::format("{}\n", n);
    CHECK(lines_of(file.get()) == expected);
}

struct Notebook : Module {
    In<long> x = in<long>("x");
    Out<long> y = out<long>("y");
    Task write = task("write", &Notebook::line);
    void line(Frame f) const {
        std::fprintf(shared_file, "%ld\n", f[x][0]);
        f[y][0] = f[x][0];
    }
};

struct Total {
    long sum = 0;
    void operator()(std::span<const long> x, std::span<long> y) { y[0] = sum += x[0]; }
};

/// Units of a graph that several threads may run.
std::vector<std::string> replicable_units(const Graph& graph) {
    std::vector<std::string> names;
    for (const ScheduledUnit& unit : structure_of(graph).units) {
        if (unit.replicable) names.push_back(unit.name);
    }
    return names;
}

std::vector<std::string> units_that_lack_a_word(const Graph& graph) {
    std::vector<std::string> names;
    for (const ScheduledUnit& unit : structure_of(graph).units) {
        if (unit.lacks_word) names.push_back(unit.name);
    }
    return names;
}

}  // namespace

TEST_CASE("without a word: a mutable lambda runs in order") {
    check_without_word([] {
        return task("total", in<long>("x"), out<long>("y"), [t = 0L](auto x, auto y) mutable {
            t += x[0];
            y[0] = t;
        });
    });
}

TEST_CASE("without a word: what captures a reference or a pointer runs in order") {
    long sum = 0;
    check_without_word([&sum] {
        sum = 0;
        return task("total", in<long>("x"), out<long>("y"), [&sum](auto x, auto y) { y[0] = sum += x[0]; });
    });
    check_without_word([&sum] {
        sum = 0;
        return task("total", in<long>("x"), out<long>("y"),
                    [where = &sum](auto x, auto y) { y[0] = *where = (3 * *where + x[0]) % 1'000'003; });
    });
    same_everywhere([](Graph& g, Words& words) {  // a sink, behind a task that three threads run
        auto& numbers = g.add(task("numbers", out<long>("x"), [n = 0L](auto x) mutable { x[0] = n++; }));
        auto& twice = g.add(task("twice", forward<long>("x"), [](auto x) { x[0] *= 2; }));
        auto& sink = g.add(task("sink", in<long>("x"), [&words, all = 0L](auto x) mutable {
            words.push_back(all = (31 * all + x[0]) % 1'000'003);
        }));
        g.chain(numbers, twice, sink);
    });
}

TEST_CASE("without a word: std::function and std::ref of what changes itself run in order") {
    check_without_word([] {
        return task("total", in<long>("x"), out<long>("y"),
                    std::function<void(std::span<const long>, std::span<long>)>(Total{}));
    });
    Total total;
    check_without_word([&total] {
        total = {};
        return task("total", in<long>("x"), out<long>("y"), std::ref(total));
    });
    CHECK(total.sum == 5000L * 4999 / 2);
}

TEST_CASE("without a word: a const member function that writes a file runs in order") {
    check_file_is_in_order([](Graph& g) -> Module& {
        auto& journal = g.add<Notebook>();
        g.chain(journal, g.add(task("sink", in<long>("x"), [](auto) {})));
        return journal;
    });
}

TEST_CASE("without a word: a print without outputs, or whose outputs nobody reads, runs in order") {
    const auto print = [](auto x) { std::fprintf(shared_file, "%ld\n", static_cast<long>(x[0])); };
    check_file_is_in_order([&](Graph& g) -> Module& { return g.add(task("print", in<long>("x"), print)); });
    check_file_is_in_order(
        [&](Graph& g) -> Module& { return g.add(task("print", forward<long>("x"), print)); });
}

TEST_CASE("a callable with two operators is called through const") {
    struct TwoOperators {
        void operator()(std::span<const long> x, std::span<long> y) const { y[0] = x[0]; }
        void operator()(std::span<const long>, std::span<long> y) { y[0] = -1; }
    };
    const Words words = same_everywhere([](Graph& g, Words& kept) {
        between_numbers_and(kept, g, g.add(task("both", in<long>("x"), out<long>("y"), TwoOperators{})));
    });
    CHECK(words.back() == 4999);
}

TEST_CASE("a callable that holds nothing and makes outputs of inputs is pure; one word makes others so") {
    Graph graph;
    const long gain = 3;
    void (*copy)(std::span<const long>, std::span<long>) = [](auto x, auto y) { y[0] = x[0]; };
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 1; }));
    auto& form = graph.add(task("form", in<long>("x"), out<long>("y"), [](auto x, auto y) { y[0] = x[0]; }));
    auto& change = graph.add(task("change", forward<long>("x"), [](auto x) { ++x[0]; }));
    auto& pointer = graph.add(task("pointer", in<long>("x"), out<long>("y"), copy));
    auto& silent = graph.add(
        task("silent", in<long>("x"), out<long>("y"), [gain](auto x, auto y) { y[0] = gain * x[0]; }));
    auto& said = graph.add(
        task("said", pure, in<long>("x"), out<long>("y"), [gain](auto x, auto y) { y[0] = gain * x[0]; }));
    auto& copies = graph.add(
        task("copies", cloned, in<long>("x"), out<long>("y"), [scratch = Words(1)](auto x, auto y) mutable {
            scratch[0] = x[0];
            y[0] = scratch[0];
        }));
    auto& ordered = graph.add(task("ordered", sequential, forward<long>("x"), [](auto) {}));
    auto& sink = graph.add(task("sink", in<long>("x"), [](auto) {}));
    graph.chain(source, form, change, pointer, silent, said, copies, ordered, sink);
    CHECK(replicable_units(graph) == std::vector<std::string>{"form.form", "change.change", "pointer.pointer",
                                                              "said.said", "copies.copies"});
    CHECK(units_that_lack_a_word(graph) == std::vector<std::string>{"silent.silent"});
}

TEST_CASE("a const member function lacks a word, one that is not const does not") {
    struct Const : Module {
        In<long> x = in<long>("x");
        Out<long> y = out<long>("y");
        Task work = task("work", &Const::run);
        void run(Frame f) const { f[y][0] = f[x][0]; }
    };
    struct Changing : Module {
        Forward<long> x = forward<long>("x");
        Task work = task("work", &Changing::run);
        void run(Frame) {}
    };
    struct Said : Module {
        Forward<long> x = forward<long>("x");
        Task work = task("work", &Said::run, pure);
        void run(Frame) const noexcept {}
    };
    Graph graph;
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", in<long>("x"), [](auto) {}));
    graph.chain(source, graph.add<Const>(), graph.add<Changing>(), graph.add<Said>(), sink);
    CHECK(units_that_lack_a_word(graph) == std::vector<std::string>{"const.work"});
    CHECK(replicable_units(graph) == std::vector<std::string>{"said.work"});
}

TEST_CASE("a skip ends a segment whatever the task captures, and leaves a hole when the task is pure") {
    const auto frames_behind = [](auto... words) {
        Graph graph;
        auto& source = graph.add(task("source", out<long>("y"), [n = 0L](auto y) mutable { y[0] = n++; }));
        auto& odd = graph.add(task("odd", words..., may_skip, forward<long>("x"),
                                   [](auto x) { return x[0] % 2 ? Flow::ok : Flow::skip; }));
        auto& sink = graph.add(task("sink", in<long>("x"), [](auto) {}));
        graph.chain(source, odd, sink);
        return structure_of(graph).segments;
    };
    CHECK(frames_behind() == 2);
    CHECK(frames_behind(sequential) == 2);
    CHECK(frames_behind(pure) == 1);
}

TEST_CASE("a graph that grew or was moved after its executor was made is refused") {
    Graph graph("late");
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 1; }));
    Sequence sequence(graph);
    Dynamic dynamic(graph);
    sequence.run({.frames = 1});
    auto& sink = graph.add(task("sink", in<long>("x"), [](auto) {}));
    graph.chain(source, sink);
    const char* refusal = "graph 'late' has changed since its executor was made, or was moved";
    CHECK_THROWS_WITH_AS(sequence.run({.frames = 1}), doctest::Contains(refusal), GraphError);
    CHECK_THROWS_WITH_AS(dynamic.run({.frames = 1}), doctest::Contains(refusal), GraphError);
    Sequence again(graph);
    const Graph moved = std::move(graph);
    CHECK_THROWS_WITH_AS(again.run({.frames = 1}), doctest::Contains("was moved"), GraphError);
    CHECK(moved.module_count() == 2);
}

TEST_CASE("a moved graph keeps its bindings") {
    const auto made = [](Words& words) {
        Graph graph;
        between_numbers_and(words, graph,
                            graph.add(task("change", forward<long>("x"), [](auto x) { ++x[0]; })));
        Graph elsewhere = std::move(graph);
        return elsewhere;
    };
    Words words;
    Graph graph = made(words);
    Sequence(graph).run({.frames = 3});
    CHECK(words == Words{1, 2, 3});
}

TEST_CASE("a graph that is being run is refused to a second executor, and free again after a failure") {
    Graph graph("busy");
    Sequence* second = nullptr;
    graph.add(task("source", out<long>("y"), [&](auto) { second->run({.frames = 1}); }));
    Sequence inner(graph);
    second = &inner;
    for (int round = 0; round < 2; ++round) {
        CHECK_THROWS_WITH(Sequence(graph).run({.frames = 1}),
                          doctest::Contains("graph 'busy' is being run: one executor at a time"));
    }
}

TEST_CASE("a task keeps a copy of its callable, and std::ref keeps none") {
    struct Count {
        long calls = 0;
        void operator()(std::span<const long>) { ++calls; }
    };
    Count copied;
    Count referred;
    Graph graph;
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 1; }));
    graph.chain(source, graph.add(task("copied", in<long>("x"), copied)));
    graph.chain(source, graph.add(task("referred", in<long>("x"), std::ref(referred))));
    Sequence(graph).run({.frames = 5});
    CHECK(copied.calls == 0);
    CHECK(referred.calls == 5);
}

TEST_CASE("a callable that cannot be copied makes a task, in order and not cloned") {
    Graph graph;
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 2; }));
    auto& own = graph.add(
        task("own", forward<long>("x"), [kept = std::make_unique<long>(3)](auto x) { x[0] += *kept; }));
    long last = 0;
    auto& sink = graph.add(task("sink", in<long>("x"), [&last](auto x) { last = x[0]; }));
    graph.chain(source, own, sink);
    Sequence(graph).run({.frames = 1});
    CHECK(last == 5);
    CHECK(replicable_units(graph).empty());
}

TEST_CASE("one task added twice is two modules, each with its own copy of what it captured") {
    Words words;
    Graph graph;
    const auto count = task("count", forward<long>("x"), [n = 0L](auto x) mutable { x[0] += ++n; });
    auto& first = graph.add(count);
    auto& second = graph.add(count);
    CHECK(second.name() == "count_2");
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 0; }));
    auto& keep = graph.add(task("keep", in<long>("x"), [&words](auto x) { words.push_back(x[0]); }));
    graph.chain(source, first, second, keep);
    Sequence(graph).run({.frames = 3});
    CHECK(words == Words{2, 4, 6});
    CHECK_THROWS_WITH(graph.bind(count["x"], keep["x"]), doctest::Contains("module 'count' is not in graph"));
}

TEST_CASE("clones begin without totals, so that a second run does not count the first one again") {
    struct Sum : Module {
        In<long> x = in<long>("x");
        Task add = task("add", &Sum::run, cloned);
        long total = 0;
        void run(Frame f) { total += f[x][0]; }
        void reset_counters() override { total = 0; }
        void merge(Module& clone) override { total += static_cast<Sum&>(clone).total; }
    };
    Graph graph;
    auto& source = graph.add(task("source", out<long>("y"), [](auto y) { y[0] = 1; }));
    auto& sum = graph.add<Sum>();
    graph.chain(source, sum);
    Pipeline pipeline(graph, thread_per_task(structure_of(graph), 3));
    pipeline.run({.frames = 100});
    pipeline.run({.frames = 100});
    CHECK(sum.total == 200);
}
