#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;

namespace {

using Words = std::vector<std::uint64_t>;

/// 1, 2, ... up to a last number, then it stops.
class Count : public Module {
  public:
    explicit Count(std::uint64_t last) : last_(last) {}
    Out<std::uint64_t> value = out<std::uint64_t>("value");
    Task next = task("next", &Count::run);

  private:
    Flow run(Frame f) {
        if (count_ == last_) return Flow::stop;
        f[value][0] = ++count_;
        return Flow::ok;
    }
    std::uint64_t last_;
    std::uint64_t count_ = 0;
};

/// Gathers what comes, and gives `size` numbers at once; at the end what is left, and how many that are.
class Gather : public Module {
  public:
    explicit Gather(std::size_t size, std::size_t taken = 1) : taken_(taken), size_(size) {
        x = in<std::uint64_t>("x", taken);
        valid_in = in<std::uint32_t>("valid_in");
        y = out<std::uint64_t>("y", size);
        valid = out<std::uint32_t>("valid");
        task("gather", &Gather::run, may_skip, may_repeat, at_end);
    }
    In<std::uint64_t> x;
    In<std::uint32_t> valid_in;
    Out<std::uint64_t> y;
    Out<std::uint32_t> valid;

  private:
    Flow run(Frame f) {
        if (!again_ && !f.at_end()) held_.insert(held_.end(), f[x].begin(), f[x].begin() + f[valid_in][0]);
        const std::size_t given = std::min(size_, held_.size());
        if (given == 0 || (given < size_ && !f.at_end())) return again_ = false, Flow::skip;
        std::copy_n(held_.begin(), given, f[y].begin());
        f[valid][0] = static_cast<std::uint32_t>(given);
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(given));
        again_ = held_.size() >= size_ || (f.at_end() && !held_.empty());
        return again_ ? Flow::again : Flow::ok;
    }
    std::size_t taken_;
    std::size_t size_;
    Words held_;
    bool again_ = false;
};

/// Collects what it gets, with the frame's number in front of each frame.
class Collect : public Module {
  public:
    Collect(Words& all, std::size_t size) : all_(all) {
        x = in<std::uint64_t>("x", size);
        valid = in<std::uint32_t>("valid");
        task("collect", &Collect::run);
    }
    In<std::uint64_t> x;
    In<std::uint32_t> valid;

  private:
    void run(Frame f) {
        all_.push_back(1000 + f.number());
        all_.insert(all_.end(), f[x].begin(), f[x].begin() + f[valid][0]);
    }
    Words& all_;
};

Schedule stages_of(const std::vector<std::size_t>& sizes) {
    Schedule schedule;
    std::size_t first = 0;
    for (const std::size_t size : sizes) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = size;
        stage.threads = 1;
        stage.core_kind = "big";
        first += size;
    }
    return schedule;
}

/// Builds a graph that collects into the words given.
using Build = std::function<void(Graph&, Words&)>;
/// Runs a graph.
using Run = std::function<RunReport(Graph&)>;

std::vector<std::pair<std::string, Run>> all_executors(std::size_t units) {
    std::vector<std::pair<std::string, Run>> all;
    all.emplace_back("sequence", [](Graph& graph) { return Sequence(graph).run(); });
    all.emplace_back("dynamic", [](Graph& graph) { return Dynamic(graph, {.workers = 2}).run(); });
    for (std::uint32_t batch = 1; batch <= 7; ++batch) {
        all.emplace_back(fmt::format("thread per task, batch {}", batch), [=](Graph& graph) {
            return Pipeline(graph, stages_of(std::vector<std::size_t>(units, 1)), {.frames = batch}).run();
        });
        for (std::size_t first = 1; first < units; ++first) {
            all.emplace_back(fmt::format("cut behind {}, batch {}", first, batch), [=](Graph& graph) {
                return Pipeline(graph, stages_of({first, units - first}), {.frames = batch}).run();
            });
        }
    }
    return all;
}

void check_everywhere(const Build& build, std::size_t units, const Words& expected) {
    for (const auto& [name, run] : all_executors(units)) {
        INFO(name);
        Graph graph;
        Words collected;
        build(graph, collected);
        const RunReport report = run(graph);
        CHECK(collected == expected);
        CHECK(report.units.size() == units);
    }
}

/// 1 to `last` by `size`, each frame behind its number.
Words by(std::size_t size, std::uint64_t last) {
    Words words;
    for (std::uint64_t i = 0; i < last; ++i) {
        if (i % size == 0) words.push_back(1000 + i / size);
        words.push_back(i + 1);
    }
    return words;
}

const std::vector<std::uint32_t> kOne{1};

}  // namespace

TEST_CASE("what a task has gathered when the source stops comes out once, under every executor") {
    for (std::uint64_t last = 0; last <= 10; ++last) {
        CAPTURE(last);
        const Build build = [&](Graph& graph, Words& collected) {
            auto& source = graph.add<Count>(last);
            auto& gather = graph.add<Gather>(4);
            auto& sink = graph.add<Collect>(collected, 4);
            graph.bind(source.value, gather.x);
            graph.bind(kOne, gather.valid_in);
            graph.bind(gather.y, sink.x);
            graph.bind(gather.valid, sink.valid);
        };
        check_everywhere(build, 3, by(4, last));
    }
}

TEST_CASE("of two tasks that gather, the second gets what the first gives at the end, then its own end") {
    for (std::uint64_t last = 0; last <= 10; ++last) {
        CAPTURE(last);
        const Build build = [&](Graph& graph, Words& collected) {
            auto& source = graph.add<Count>(last);
            auto& fours = graph.add<Gather>(4);
            auto& threes = graph.add<Gather>(3, 4);
            auto& sink = graph.add<Collect>(collected, 3);
            graph.bind(source.value, fours.x);
            graph.bind(kOne, fours.valid_in);
            graph.bind(fours.y, threes.x);
            graph.bind(fours.valid, threes.valid_in);
            graph.bind(threes.y, sink.x);
            graph.bind(threes.valid, sink.valid);
        };
        check_everywhere(build, 4, by(3, last));
    }
}

TEST_CASE("what comes out at the end goes through loops like all else") {
    for (std::uint64_t last = 0; last <= 9; ++last) {
        CAPTURE(last);
        const Build build = [&](Graph& graph, Words& collected) {
            auto& source = graph.add<Count>(last);
            auto& gather = graph.add<Gather>(4);
            auto& loop = graph.add<Loop<std::uint64_t>>("loop", 4);
            auto& add = graph.add(task("add", in<std::uint64_t>("x", 4), out<std::uint64_t>("y", 4),
                                       out<std::uint8_t>("more"), [](auto x, auto y, auto more) {
                                           for (std::size_t i = 0; i < 4; ++i) y[i] = x[i] + 100;
                                           more[0] = y[0] < 300;
                                       }));
            auto& sink = graph.add<Collect>(collected, 4);
            graph.bind(source.value, gather.x);
            graph.bind(kOne, gather.valid_in);
            graph.bind(gather.y, loop.first);
            graph.bind(loop.turn, add["x"]);
            graph.bind(add["y"], loop.data);
            graph.bind(add["more"], loop.control);
            graph.bind(loop.body, loop.next);
            graph.bind(loop.done, sink.x);
            graph.bind(gather.valid, sink.valid);
        };
        Words expected = by(4, last);
        for (std::uint64_t& word : expected) word += word < 1000 ? 300 : 0;
        check_everywhere(build, 4, expected);
    }
}

TEST_CASE("a circle through a delay goes on at the end") {
    const Build build = [&](Graph& graph, Words& collected) {
        auto& source = graph.add<Count>(6);
        auto& gather = graph.add<Gather>(4);
        auto& before = graph.add<Delay<std::uint64_t>>("before", 4);
        auto& add = graph.add(task("add", in<std::uint64_t>("x", 4), in<std::uint64_t>("z", 4),
                                   out<std::uint64_t>("y", 4), [](auto x, auto z, auto y) {
                                       for (std::size_t i = 0; i < 4; ++i) y[i] = x[i] + z[i];
                                   }));
        auto& sink = graph.add<Collect>(collected, 4);
        graph.bind(source.value, gather.x);
        graph.bind(kOne, gather.valid_in);
        graph.bind(gather.y, add["x"]);
        graph.bind(before.delayed, add["z"]);
        graph.bind(add["y"], before.now);
        graph.bind(add["y"], sink.x);
        graph.bind(gather.valid, sink.valid);
    };
    check_everywhere(build, 4, {1000, 1, 2, 3, 4, 1001, 5 + 1, 6 + 2});
}

namespace {

/// Sees the end; gives a set number of frames then, with their numbers.
class Trailer : public Module {
  public:
    explicit Trailer(int frames) : left_(frames) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Out<std::uint32_t> valid = out<std::uint32_t>("valid");
    Task pass = task("pass", &Trailer::run, at_end);

  private:
    Flow run(Frame f) {
        f[valid][0] = 1;
        if (!f.at_end()) return f[y][0] = f[x][0], Flow::ok;
        if (left_ == 0) return Flow::skip;
        f[y][0] = 100 + f.number() + f[x].size();
        return --left_ > 0 ? Flow::again : Flow::ok;
    }
    int left_;
};

void build_trailers(Graph& graph, Words& collected, std::uint64_t last, int first, int second) {
    auto& source = graph.add<Count>(last);
    auto& one = graph.add<Trailer>(first);
    auto& two = graph.add<Trailer>(second);
    auto& sink = graph.add<Collect>(collected, 1);
    graph.bind(source.value, one.x);
    graph.bind(one.y, two.x);
    graph.bind(two.y, sink.x);
    graph.bind(two.valid, sink.valid);
}

}  // namespace

TEST_CASE("at the end a task gives as many frames as it says again, in the numbers that come next") {
    const Build build = [](Graph& graph, Words& collected) { build_trailers(graph, collected, 2, 2, 1); };
    check_everywhere(build, 4, {1000, 1, 1001, 2, 1002, 102, 1003, 103, 1004, 104});
    const Build skips = [](Graph& graph, Words& collected) { build_trailers(graph, collected, 1, 0, 2); };
    check_everywhere(skips, 4, {1000, 1, 1001, 101, 1002, 102});
}

TEST_CASE("frames, a stop from outside and a change of schedule are no end; finish says that they are") {
    Graph graph;
    Words collected;
    build_trailers(graph, collected, 100, 1, 0);
    Pipeline pipeline(graph, stages_of({2, 2}));
    CHECK(pipeline.run({.frames = 2}).delivered == 2);
    pipeline.reschedule(stages_of({4}));
    CHECK(pipeline.resume({.frames = 1}).delivered == 1);
    CHECK(collected == Words{1000, 1, 1001, 2, 1002, 3});
    SUBCASE("resume") {
        const RunReport report = pipeline.resume({.finish = true});
        CHECK(report.frames == 0);
        CHECK(report.delivered == 1);
        CHECK(collected == Words{1000, 1, 1001, 2, 1002, 3, 1003, 103});
        CHECK_THROWS_WITH_AS(
            pipeline.resume(),
            "the stream of graph 'graph' has ended, and its tasks have seen it: begin a new one with "
            "run()",
            RunError);
    }
    SUBCASE("run") {
        Words more;
        Graph other;
        build_trailers(other, more, 100, 1, 0);
        Dynamic(other).run({.frames = 2, .finish = true});
        CHECK(more == Words{1000, 1, 1001, 2, 1002, 102});
    }
}

TEST_CASE("a task that throws at the end is told with the number of that frame") {
    for (const bool dynamic : {false, true}) {
        Graph graph;
        auto& source = graph.add<Count>(3);
        class Late : public Module {
          public:
            In<std::uint64_t> x = in<std::uint64_t>("x");
            Task end = task("end", &Late::run, at_end);

          private:
            void run(Frame f) {
                if (f.at_end()) throw std::runtime_error("too late");
            }
        };
        auto& late = graph.add<Late>();
        graph.bind(source.value, late.x);
        try {
            dynamic ? Dynamic(graph).run() : Sequence(graph).run();
            CHECK(false);
        } catch (const FrameError& error) {
            CHECK(error.task() == "late.end");
            CHECK(error.frame() == 3);
        }
    }
}

TEST_CASE("where a task in the middle stops, those are told that follow from it") {
    const Build build = [](Graph& graph, Words& collected) {
        auto& source = graph.add<Count>(100);
        auto& before = graph.add<Trailer>(1);
        auto& head = graph.add(
            task("head", sequential, in<std::uint64_t>("x"), out<std::uint64_t>("y"), [](auto x, auto y) {
                y[0] = x[0];
                return x[0] > 3 ? Flow::stop : Flow::ok;
            }));
        auto& behind = graph.add<Trailer>(1);
        auto& sink = graph.add<Collect>(collected, 1);
        graph.bind(source.value, before.x);
        graph.bind(before.y, head["x"]);
        graph.bind(head["y"], behind.x);
        graph.bind(behind.y, sink.x);
        graph.bind(behind.valid, sink.valid);
    };
    check_everywhere(build, 5, {1000, 1, 1001, 2, 1002, 3, 1003, 103});
}

TEST_CASE("who cannot be told of the end is refused with a reason") {
    Graph graph("g");
    auto& source = graph.add<Count>(3);
    SUBCASE("what reads from elsewhere, too") {
        auto& trailer = graph.add<Trailer>(1);
        auto& sum =
            graph.add(task("sum", in<std::uint64_t>("a"), in<std::uint64_t>("b"), out<std::uint64_t>("y"),
                           [](auto a, auto b, auto y) { y[0] = a[0] + b[0]; }));
        graph.bind(source.value, trailer.x);
        graph.bind(trailer.y, sum["a"]);
        graph.bind(source.value, sum["b"]);
        CHECK_THROWS_WITH_AS(
            Sequence{graph},
            "sum.sum follows from trailer.pass, which gives frames at the stream's end, but also reads "
            "count.value, which has none then: hand that on through trailer.pass",
            GraphError);
    }
    SUBCASE("a task that several threads may run") {
        auto& task_of = graph.add(task("t", pure, at_end, in<std::uint64_t>("x"), [](auto) {}));
        graph.bind(source.value, task_of["x"]);
        CHECK_THROWS_WITH_AS(Sequence{graph}, "t.t: at_end needs a sequential task", GraphError);
    }
    SUBCASE("a task that changes data in place") {
        auto& task_of = graph.add(task("t", sequential, at_end, forward<std::uint64_t>("x"), [](auto) {}));
        graph.bind(source.value, task_of["x"]);
        CHECK_THROWS_WITH_AS(
            Sequence{graph},
            "t.t: at the stream's end there is nothing to change in place in x: give it an input and an "
            "output",
            GraphError);
    }
    SUBCASE("a task in a loop") {
        auto& loop = graph.add<Loop<std::uint64_t>>("loop");
        auto& step = graph.add(task("t", sequential, at_end, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                    out<std::uint8_t>("more"), [](auto, auto, auto) {}));
        graph.bind(source.value, loop.first);
        graph.bind(loop.turn, step["x"]);
        graph.bind(step["y"], loop.data);
        graph.bind(step["more"], loop.control);
        graph.bind(loop.body, loop.next);
        CHECK_THROWS_WITH_AS(
            Sequence{graph},
            "t.t is in a loop, whose tasks run on no frame at the stream's end: declare it without "
            "at_end, or put it outside",
            GraphError);
    }
}
