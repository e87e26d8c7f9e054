#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/testing/random_graph.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;

namespace {

using internal::mixed;
using internal::test_schedule;
using internal::Words;

class Count : public Module {
  public:
    explicit Count(std::uint64_t frames) : frames_(frames) {}
    Out<std::uint64_t> value = out<std::uint64_t>("value");
    Task next = task("next", &Count::count);

  private:
    Flow count(Frame f) {
        if (n_ == frames_) return Flow::stop;
        f[value][0] = n_++;
        return Flow::ok;
    }
    std::uint64_t frames_;
    std::uint64_t n_ = 0;
};

class Collect : public Module {
  public:
    explicit Collect(Words& into) : into_(into) {}
    In<std::uint64_t> value = in<std::uint64_t>("value");
    Task take = task("take", &Collect::collect);

  private:
    void collect(Frame f) { into_.push_back(mixed(f[value][0], f.number())); }
    Words& into_;
};

/// One word in, one word out, by any function of the word and the frame number.
class Map : public Module {
  public:
    using Function = std::function<Flow(std::uint64_t in, std::uint64_t number, std::uint64_t& out)>;
    Map(std::string name, TaskOptions options, Function function)
        : Module(std::move(name)), function_(std::move(function)), run(task("run", &Map::apply, options)) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");

  private:
    Flow apply(Frame f) { return function_(f[x][0], f.number(), f[y][0]); }
    Function function_;

  public:
    Task run;
};

constexpr TaskOptions kPure{.replication = Replication::pure};
constexpr TaskOptions kSequential{};

Flow mix(std::uint64_t in, std::uint64_t number, std::uint64_t& out) {
    out = mixed(in, number);
    return Flow::ok;
}

/// Runs what `build` makes: in order when `schedule` is null.
Words outcome(const std::function<void(Graph&, Words&)>& build, const Schedule* schedule,
              WaitMode waiting = WaitMode::mixed) {
    Words words;
    Graph graph;
    build(graph, words);
    if (schedule) {
        Pipeline(graph, *schedule, {.waiting = waiting}).run();
    } else {
        Sequence(graph).run();
    }
    return words;
}

void build_chain_of_eight(Graph& graph, Words& words) {
    auto& source = graph.add<Count>(200u);
    Module* last = &source;
    for (int i = 0; i < 6; ++i) {
        auto& map = graph.add<Map>(fmt::format("map{}", i), kPure, mix);
        graph.bind((*last)[i == 0 ? "value" : "y"], map["x"]);
        last = &map;
    }
    auto& sink = graph.add<Collect>(words);
    graph.bind((*last)["y"], sink["value"]);
}

/// Every eighth of all cuts waits for some tens of microseconds before it sleeps: with more threads than
/// cores waiting threads take the cores from working ones, and that is most of the time.
WaitMode waiting_of(unsigned borders) {
    return borders % 8 == 7 ? WaitMode::mixed : WaitMode::passive;
}

/// All ways to cut `tasks` tasks into stages; bit i set: a border after task i.
std::vector<std::size_t> stage_sizes(std::size_t tasks, unsigned borders) {
    std::vector<std::size_t> sizes{1};
    for (std::size_t i = 0; i + 1 < tasks; ++i) {
        if (borders >> i & 1) {
            sizes.push_back(1);
        } else {
            ++sizes.back();
        }
    }
    return sizes;
}

}  // namespace

TEST_CASE("every cut of a chain of eight tasks, with 1 to 4 replicas, gives what the sequence gives") {
    const Words expected = outcome(build_chain_of_eight, nullptr);
    REQUIRE(expected.size() == 200);
    for (unsigned borders = 0; borders < 128; ++borders) {
        const std::vector<std::size_t> sizes = stage_sizes(8, borders);
        for (int replicas = 1; replicas <= 4; ++replicas) {
            std::vector<std::pair<std::size_t, int>> stages;
            std::size_t first = 0;
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                const bool replicable = first > 0 && first + sizes[s] < 8;
                // Unequal neighbours: 3 threads beside 2 beside 3.
                const int threads = replicas > 1 && s % 2 ? replicas - 1 : replicas;
                stages.push_back({sizes[s], replicable ? threads : 1});
                first += sizes[s];
            }
            const Schedule schedule = test_schedule(stages);
            CAPTURE(borders);
            CAPTURE(replicas);
            CHECK(outcome(build_chain_of_eight, &schedule, waiting_of(borders)) == expected);
        }
    }
}

TEST_CASE("all ways of waiting give the same") {
    const Words expected = outcome(build_chain_of_eight, nullptr);
    const Schedule schedule = test_schedule({{1, 1}, {3, 3}, {3, 2}, {1, 1}});
    for (const auto mode : {WaitMode::passive, WaitMode::active, WaitMode::mixed}) {
        CHECK(outcome(build_chain_of_eight, &schedule, mode) == expected);
    }
}

TEST_CASE("a replicable source stage ends at the frame that was asked for") {
    for (const int threads : {1, 2, 3, 5}) {
        Words words;
        Graph graph;
        auto& numbers = graph.add(task("zero", pure, out<std::uint64_t>("y"), [](auto y) { y[0] = 7; }));
        auto& map = graph.add<Map>("map", kPure, mix);
        auto& sink = graph.add<Collect>(words);
        graph.bind(numbers["y"], map["x"]);
        graph.bind(map.y, sink.value);
        const RunReport report = Pipeline(graph, test_schedule({{2, threads}, {1, 1}})).run({.frames = 101});
        CHECK(words.size() == 101);
        CHECK(report.frames == 101);
        CHECK(report.delivered == 101);
    }
}

TEST_CASE("skip and again change the number of frames; later tasks see them numbered without gaps") {
    const auto build = [](Graph& graph, Words& words) {
        auto& source = graph.add<Count>(300u);
        auto& before = graph.add<Map>("before", kPure, mix);
        auto left = std::make_shared<std::uint64_t>(0);
        const TaskOptions both{.may_skip = true, .may_repeat = true};
        auto& thin =
            graph.add<Map>("thin", both, [left](std::uint64_t in, std::uint64_t n, std::uint64_t& out) {
                if (*left == 0) *left = in % 4;  // 0 to 3 frames for each one
                if (*left == 0) return Flow::skip;
                out = mixed(in, n * 8 + *left);
                return --*left > 0 ? Flow::again : Flow::ok;
            });
        auto& between = graph.add<Map>("between", kPure, mix);
        auto& odd = graph.add<Map>("odd", TaskOptions{.may_skip = true},
                                   [](std::uint64_t in, std::uint64_t, std::uint64_t& out) {
                                       out = in;
                                       return in % 2 ? Flow::ok : Flow::skip;
                                   });
        auto& after = graph.add<Map>("after", kPure, mix);
        auto& sink = graph.add<Collect>(words);
        graph.bind(source.value, before.x);
        graph.bind(before.y, thin.x);
        graph.bind(thin.y, between.x);
        graph.bind(between.y, odd.x);
        graph.bind(odd.y, after.x);
        graph.bind(after.y, sink.value);
    };
    const Words expected = outcome(build, nullptr);
    CHECK(expected.size() > 100);
    for (unsigned borders = 0; borders < 64; ++borders) {
        std::vector<std::pair<std::size_t, int>> stages;
        std::size_t first = 0;
        for (const std::size_t size : stage_sizes(7, borders)) {
            const bool replicable = size == 1 && (first == 1 || first == 3 || first == 5);
            stages.push_back({size, replicable ? 3 : 1});
            first += size;
        }
        const Schedule schedule = test_schedule(stages);
        CAPTURE(borders);
        CHECK(outcome(build, &schedule, waiting_of(borders)) == expected);
    }
}

TEST_CASE("a hole that a replicable task leaves stops what depends on it, and nothing else") {
    Words kept;
    Words all;
    Graph graph;
    auto& source = graph.add<Count>(100u);
    auto& gate = graph.add<Map>("gate", TaskOptions{.replication = Replication::pure, .may_skip = true},
                                [](std::uint64_t in, std::uint64_t, std::uint64_t& out) {
                                    out = in;
                                    return in % 3 ? Flow::skip : Flow::ok;
                                });
    auto& sink = graph.add<Collect>(kept);
    auto& other = graph.add<Collect>(all);
    graph.bind(source.value, gate.x);
    graph.bind(gate.y, sink.value);
    graph.bind(source.value, other.value);
    const RunReport report = Pipeline(graph, test_schedule({{1, 1}, {1, 4}, {2, 1}})).run();
    CHECK(kept.size() == 34);
    CHECK(kept[1] == mixed(3, 3));  // the numbers keep their gaps inside a segment
    CHECK(all.size() == 100);
    CHECK(report.skipped == 66);
    CHECK(report.delivered == 34);
}

TEST_CASE("what a later segment needs of an earlier one is carried into every frame emitted") {
    const auto build = [](Graph& graph, Words& words) {
        auto& source = graph.add<Count>(60u);
        auto& side = graph.add<Map>("side", kPure, mix);
        auto left = std::make_shared<int>(2);
        auto& twice = graph.add<Map>("twice", TaskOptions{.may_repeat = true},
                                     [left](std::uint64_t in, std::uint64_t, std::uint64_t& out) {
                                         out = in * 10 + static_cast<std::uint64_t>(*left);
                                         *left = *left == 2 ? 1 : 2;
                                         return *left == 1 ? Flow::again : Flow::ok;
                                     });
        auto& join =
            graph.add(task("join", in<std::uint64_t>("a"), in<std::uint64_t>("b"), out<std::uint64_t>("y"),
                           [](auto a, auto b, auto y) { y[0] = mixed(a[0], b[0]); }));
        auto& sink = graph.add<Collect>(words);
        graph.bind(source.value, side.x);
        graph.bind(source.value, twice.x);
        graph.bind(twice.y, join["a"]);
        graph.bind(side["y"], join["b"]);
        graph.bind(join["y"], sink["value"]);
    };
    const Words expected = outcome(build, nullptr);
    REQUIRE(expected.size() == 120);
    CHECK(expected[3] == mixed(mixed(11, mixed(1, 1)), 3));
    for (const auto& stages : std::vector<std::vector<std::pair<std::size_t, int>>>{
             {{1, 1}, {1, 2}, {1, 1}, {1, 3}, {1, 1}}, {{2, 1}, {1, 1}, {2, 1}}, {{3, 1}, {1, 4}, {1, 1}}}) {
        const Schedule schedule = test_schedule(stages);
        CHECK(outcome(build, &schedule) == expected);
    }
}

TEST_CASE("a forward changes data in place, and never data that others still read") {
    const auto build = [](Graph& graph, Words& words) {
        auto& source = graph.add<Count>(50u);
        const auto doubling = [](auto x) { x[0] = x[0] * 2 + 1; };
        auto& first = graph.add(task("first", forward<std::uint64_t>("x"), doubling));
        auto& second = graph.add(task("second", forward<std::uint64_t>("x"), doubling));
        auto& sum = graph.add(task("sum", in<std::uint64_t>("a"), in<std::uint64_t>("b"),
                                   in<std::uint64_t>("c"), out<std::uint64_t>("y"),
                                   [](auto a, auto b, auto c, auto y) { y[0] = a[0] + 1000 * b[0] + c[0]; }));
        auto& sink = graph.add<Collect>(words);
        graph.bind(source.value, first["x"]);
        graph.bind(first["x"], second["x"]);
        graph.bind(source.value, sum["a"]);  // reads what `first` changes
        graph.bind(second["x"], sum["b"]);
        graph.bind(std::vector<std::uint64_t>{5}, In<std::uint64_t>{&sum, sum["c"].index, 1});
        graph.bind(sum["y"], sink["value"]);
    };
    const Words expected = outcome(build, nullptr);
    CHECK(expected[4] == mixed(4 + 1000 * 19 + 5, 4));
    for (const auto& stages : std::vector<std::vector<std::pair<std::size_t, int>>>{
             {{1, 1}, {1, 2}, {1, 3}, {1, 2}, {1, 1}}, {{1, 1}, {3, 2}, {1, 1}}, {{2, 1}, {2, 1}, {1, 1}}}) {
        const Schedule schedule = test_schedule(stages);
        CHECK(outcome(build, &schedule) == expected);
    }
}

namespace {

class Total : public Module {
  public:
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task add = task("add", &Total::sum, cloned);
    void reset_counters() override { total = 0; }
    void merge(Module& clone) override { total += static_cast<Total&>(clone).total; }
    std::uint64_t total = 0;

  private:
    void sum(Frame f) {
        total += f[x][0];
        f[y][0] = f[x][0];
    }
};

class Uncopyable : public Total {
  public:
    Uncopyable() = default;
    Uncopyable(const Uncopyable&) = delete;
};

}  // namespace

TEST_CASE("clones keep totals of their own, which are merged at the end") {
    for (const int threads : {1, 3}) {
        Words words;
        Graph graph;
        auto& source = graph.add<Count>(101u);
        auto& total = graph.add<Total>();
        auto& sink = graph.add<Collect>(words);
        graph.bind(source.value, total.x);
        graph.bind(total.y, sink.value);
        Pipeline(graph, test_schedule({{1, 1}, {1, threads}, {1, 1}})).run();
        CHECK(total.total == 5050);
    }
}

TEST_CASE("a module that cannot be copied is not replicated, and the error says why") {
    Words words;
    Graph graph;
    auto& source = graph.add<Count>(10u);
    auto& total = graph.add<Uncopyable>();
    auto& sink = graph.add<Collect>(words);
    graph.bind(source.value, total.x);
    graph.bind(total.y, sink.value);
    CHECK_THROWS_WITH_AS(Pipeline(graph, test_schedule({{1, 1}, {1, 2}, {1, 1}})),
                         doctest::Contains("'uncopyable' (Uncopyable) cannot be copied"), GraphError);
}

TEST_CASE("stop anywhere delivers the frames before it and none after") {
    for (const std::size_t where : {0u, 1u, 2u, 3u}) {
        const auto build = [&](Graph& graph, Words& words) {
            auto& source = graph.add<Count>(100000u);
            SocketRef last = source["value"];
            for (std::size_t i = 0; i < 4; ++i) {
                const bool ends = i == 1;
                auto& map = graph.add<Map>(fmt::format("map{}", i),
                                           ends ? TaskOptions{.may_repeat = true} : kSequential,
                                           [=, calls = std::make_shared<int>(0)](
                                               std::uint64_t in, std::uint64_t n, std::uint64_t& out) {
                                               if (i == where && n == 30) return Flow::stop;
                                               out = mixed(in, n);
                                               return ends && ++*calls % 3 ? Flow::again : Flow::ok;
                                           });
                graph.bind(last, map["x"]);
                last = map["y"];
            }
            auto& sink = graph.add<Collect>(words);
            graph.bind(last, sink["value"]);
        };
        const Words expected = outcome(build, nullptr);
        CHECK(expected.size() == (where < 2 ? 90 : 30));
        for (const auto& stages : std::vector<std::vector<std::pair<std::size_t, int>>>{
                 {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
                 {{2, 1}, {2, 1}, {2, 1}},
                 {{1, 1}, {5, 1}}}) {
            const Schedule schedule = test_schedule(stages);
            CAPTURE(where);
            CHECK(outcome(build, &schedule) == expected);
        }
    }
}

TEST_CASE("an exception reaches the caller with task, stage and frame; the frames before it are delivered") {
    for (const std::size_t where : {0u, 1u, 2u, 3u}) {
        for (const int threads : {1, 2, 4}) {
            Words words;
            Graph graph;
            auto& source = graph.add<Count>(100000u);
            SocketRef last = source["value"];
            for (std::size_t i = 0; i < 4; ++i) {
                auto& map = graph.add<Map>(fmt::format("map{}", i), kPure,
                                           [=](std::uint64_t in, std::uint64_t n, std::uint64_t& out) {
                                               // Two failures: the one of the smaller frame is to be
                                               // reported.
                                               if (i == where && (n == 57 || n == 58)) {
                                                   throw std::runtime_error("no luck");
                                               }
                                               return mix(in, n, out);
                                           });
                graph.bind(last, map["x"]);
                last = map["y"];
            }
            auto& sink = graph.add<Collect>(words);
            graph.bind(last, sink["value"]);
            Pipeline pipeline(graph, test_schedule({{1, 1}, {2, threads}, {2, 3}, {1, 1}}),
                              {.waiting = WaitMode::mixed});
            try {
                pipeline.run();
                FAIL("nothing was thrown");
            } catch (const FrameError& error) {
                CHECK(error.task() == fmt::format("map{}.run", where));
                CHECK(error.frame() == 57);
                CHECK(error.stage() == 1 + where / 2);
                CHECK(std::string(error.what()).find("no luck") != std::string::npos);
            }
            CHECK(words.size() == 57);
        }
    }
}

TEST_CASE("an undeclared flow is an error that says what to declare") {
    Words words;
    Graph graph;
    auto& source = graph.add<Count>(10u);
    auto& map = graph.add<Map>("map", kPure, [](auto, auto, auto&) { return Flow::skip; });
    auto& sink = graph.add<Collect>(words);
    graph.bind(source.value, map.x);
    graph.bind(map.y, sink.value);
    CHECK_THROWS_WITH_AS(Sequence(graph).run(), doctest::Contains("declare it with may_skip"), FrameError);
}

TEST_CASE("a stop request ends an endless stream, and what was begun is delivered") {
    for (const int threads : {1, 3}) {
        std::atomic<std::uint64_t> seen{0};
        Graph graph;
        auto& source = graph.add(task("zero", pure, out<std::uint64_t>("y"), [](auto y) { y[0] = 1; }));
        std::stop_source stop;
        auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto) {
            if (++seen == 500) stop.request_stop();
        }));
        graph.bind(source["y"], sink["x"]);
        const RunReport report =
            Pipeline(graph, test_schedule({{1, threads}, {1, 1}})).run({.stop = stop.get_token()});
        CHECK(report.frames == report.delivered);
        CHECK(report.delivered == seen);
        CHECK(seen >= 500);
    }
}

TEST_CASE("a stop condition is asked before each source frame") {
    Graph graph;
    Words words;
    auto& source = graph.add<Count>(1000u);
    auto& sink = graph.add<Collect>(words);
    graph.bind(source.value, sink.value);
    int asked = 0;
    Sequence(graph).run({.stop_when = [&] { return ++asked > 10; }});
    CHECK(words.size() == 10);
    Sequence(graph).run({.frames = 5});  // the source goes on from where it was
    CHECK(words.size() == 15);
    CHECK(words.back() == mixed(14, 4));
}

TEST_CASE("the report counts calls per task and names what was not pinned") {
    Words words;
    Graph graph;
    build_chain_of_eight(graph, words);
    const RunReport report = Pipeline(graph, test_schedule({{1, 1}, {6, 2}, {1, 1}})).run();
    REQUIRE(report.tasks.size() == 8);
    for (const TaskReport& task : report.tasks) CHECK(task.calls.count >= 200);
    CHECK(report.stages[1].threads.size() == 2);
    CHECK(report.segments[0].tokens == 4 + 2);
    CHECK(report.unit_weights_us().size() == 8);
    CHECK(task_table(report).find("map3.run") != std::string::npos);
    CHECK(stage_table(report).find("map0.run .. map5.run") != std::string::npos);
}

TEST_CASE("a schedule for another graph is refused with what was expected") {
    Words words;
    Graph graph;
    build_chain_of_eight(graph, words);
    CHECK_THROWS_WITH(Pipeline(graph, test_schedule({{3, 1}})),
                      doctest::Contains("is for 3 tasks, the graph has 8"));
    CHECK_THROWS_WITH(Pipeline(graph, test_schedule({{4, 2}, {4, 1}})),
                      doctest::Contains("count.next is sequential; give it one thread"));
    Schedule named = test_schedule({{8, 1}});
    named.task_names = {"count.next", "map0.run", "fir.run", "d", "e", "f", "g", "h"};
    CHECK_THROWS_WITH(Pipeline(graph, named),
                      doctest::Contains("task 3 is 'fir.run', here it is 'map1.run'"));
}

TEST_CASE("resume goes on with frames, numbers, state and totals where the run ended") {
    Words words;
    Graph graph;
    auto& source = graph.add<Count>(100u);
    auto& total = graph.add<Total>();
    auto& sink = graph.add<Collect>(words);
    graph.bind(source.value, total.x);
    graph.bind(total.y, sink.value);
    Pipeline pipeline(graph, test_schedule({{1, 1}, {1, 3}, {1, 1}}));
    CHECK(pipeline.run({.frames = 10}).frames == 10);
    CHECK(pipeline.resume({.frames = 31}).frames == 31);
    pipeline.resume();
    REQUIRE(words.size() == 100);
    for (std::uint64_t n = 0; n < 100; ++n) CHECK(words[n] == mixed(n, n));
    CHECK(total.total == 99 * 100 / 2);
}

TEST_CASE("a change of schedule while the stream runs loses, doubles and reorders nothing") {
    const auto build = [](Graph& graph, Words& words, std::function<void(std::uint64_t)> at_frame) {
        auto& source = graph.add<Count>(3000u);
        auto& before = graph.add<Map>("before", kPure, mix);
        auto& total = graph.add<Total>();
        auto thirds = std::make_shared<std::uint64_t>(0);
        auto& thin = graph.add<Map>("thin", TaskOptions{.may_skip = true, .may_repeat = true},
                                    [=](std::uint64_t in, std::uint64_t n, std::uint64_t& out) {
                                        at_frame(n);
                                        out = mixed(in, n);
                                        const std::uint64_t kind = ++*thirds % 5;
                                        return kind == 0 ? Flow::skip : kind == 1 ? Flow::again : Flow::ok;
                                    });
        auto& after = graph.add<Map>("after", kPure, mix);
        auto& sink = graph.add<Collect>(words);
        graph.bind(source.value, before.x);
        graph.bind(before.y, total.x);
        graph.bind(total.y, thin.x);
        graph.bind(thin.y, after.x);
        graph.bind(after.y, sink.value);
    };
    Words expected;
    Graph in_order;
    build(in_order, expected, [](std::uint64_t) {});
    Sequence(in_order).run();

    const Schedule schedules[] = {test_schedule({{1, 1}, {2, 3}, {1, 1}, {1, 2}, {1, 1}}),
                                  test_schedule({{6, 1}}), test_schedule({{1, 1}, {2, 2}, {3, 1}}),
                                  test_schedule({{4, 1}, {1, 4}, {1, 1}})};
    Words words;
    Graph graph;
    Pipeline* running = nullptr;
    // The wish comes from the middle of the stream, as live measurements would make it.
    build(graph, words, [&](std::uint64_t n) {
        if (n % 200 == 100) running->reschedule(schedules[n / 200 % 4]);
    });
    Pipeline pipeline(graph, schedules[0], {.waiting = WaitMode::mixed});
    running = &pipeline;
    const RunReport report = pipeline.run();
    CHECK(words == expected);
    CHECK(report.frames == 3000);
    CHECK(report.bubbles_us.size() >= 10);
}

TEST_CASE("a schedule that does not fit is refused and changes nothing") {
    Words words;
    Graph graph;
    build_chain_of_eight(graph, words);
    Pipeline pipeline(graph, test_schedule({{4, 1}, {4, 1}}));
    CHECK_THROWS_WITH(pipeline.reschedule(test_schedule({{4, 2}, {4, 1}})),
                      doctest::Contains("is sequential"));
    CHECK(pipeline.run().stages.size() == 2);
    CHECK(words.size() == 200);
}
