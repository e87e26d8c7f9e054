#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/testing/random_runs.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

/// Circles through delays, over a chain of tasks: each leads what `last` made back to `first`.
struct Circle {
    std::size_t first;
    std::size_t last;
    std::size_t frames;
};

/// A task of the chain. Of what it reads and holds it makes one word.
struct Step final : Module {
    Step(std::size_t index, std::size_t pasts, Replication how, bool leaves_holes)
        : Module(fmt::format("step{}", index)), holes_(leaves_holes), index_(index) {
        if (index > 0) input.push_back(in<std::uint64_t>("x"));
        for (std::size_t p = 0; p < pasts; ++p) past.push_back(in<std::uint64_t>(fmt::format("past{}", p)));
        y = out<std::uint64_t>("y");
        task("run", &Step::run, TaskOptions{.replication = how, .may_skip = leaves_holes});
        remembers_ = how == Replication::sequential;
    }
    Flow run(Frame f) {
        std::uint64_t value = mixed(index_, f.number());
        if (!input.empty()) value = mixed(value, f[input[0]][0]);
        for (const auto& each : past) value = mixed(value, f[each][0]);
        if (holes_ && value % 3 == 0) return Flow::skip;
        if (remembers_) value = state_ = mixed(state_, value);
        f[y][0] = value;
        return Flow::ok;
    }
    std::vector<In<std::uint64_t>> input;
    std::vector<In<std::uint64_t>> past;
    Out<std::uint64_t> y;

  private:
    bool holes_;
    bool remembers_ = false;
    std::size_t index_;
    std::uint64_t state_ = 0;
};

struct Program {
    std::vector<Replication> steps;
    std::vector<bool> holes;
    std::vector<Circle> circles;

    explicit Program(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const std::size_t count = 3 + random() % 5;
        for (std::size_t i = 0; i < count; ++i) {
            constexpr Replication kAll[] = {Replication::sequential, Replication::pure, Replication::cloned};
            steps.push_back(i == 0 ? Replication::sequential : kAll[random() % 3]);
            holes.push_back(i > 0 && steps[i] != Replication::sequential && random() % 12 == 0);
        }
        for (std::size_t c = 1 + random() % 2; c > 0; --c) {
            const std::size_t first = 1 + random() % (count - 1);
            circles.push_back({first, first + random() % (count - first), 1 + random() % 12});
        }
    }

    /// The graph, whose last task's words come into `seen`.
    void build(Graph& graph, Words& seen) const {
        std::vector<Step*> made;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            std::size_t pasts = 0;
            for (const Circle& circle : circles) pasts += circle.first == i;
            made.push_back(&graph.add<Step>(i, pasts, steps[i], holes[i]));
            if (i > 0) graph.bind(made[i - 1]->y, made[i]->input[0]);
        }
        std::vector<std::size_t> used(steps.size(), 0);
        for (const Circle& circle : circles) {
            auto& delay = graph.add<Delay<std::uint64_t>>("delay", 1, circle.frames);
            graph.bind(delay.delayed, made[circle.first]->past[used[circle.first]++]);
            graph.bind(made[circle.last]->y, delay.now);
        }
        auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto x) { seen.push_back(x[0]); }));
        graph.bind(made.back()->y, sink["x"]);
    }

    /// The output by definition: in order, with all that each task ever made.
    Words meaning(std::uint64_t frames) const {
        std::vector<std::uint64_t> states(steps.size(), 0);
        std::vector<Words> kept(circles.size());
        Words seen;
        for (std::uint64_t frame = 0; frame < frames; ++frame) {
            std::vector<std::optional<std::uint64_t>> values(steps.size());
            for (std::size_t i = 0; i < steps.size(); ++i) {
                if (i > 0 && !values[i - 1]) break;
                std::uint64_t value = mixed(i, frame);
                if (i > 0) value = mixed(value, *values[i - 1]);
                for (std::size_t c = 0; c < circles.size(); ++c) {
                    if (circles[c].first != i) continue;
                    const std::size_t n = kept[c].size();
                    value = mixed(value, n < circles[c].frames ? 0 : kept[c][n - circles[c].frames]);
                }
                if (holes[i] && value % 3 == 0) break;
                if (steps[i] == Replication::sequential) value = states[i] = mixed(states[i], value);
                values[i] = value;
            }
            for (std::size_t c = 0; c < circles.size(); ++c)
                if (values[circles[c].last]) kept[c].push_back(*values[circles[c].last]);
            if (values.back()) seen.push_back(*values.back());
        }
        return seen;
    }
};

Schedule random_cut(const Structure& structure, std::mt19937_64& random) {
    Schedule schedule;
    for (std::size_t first = 0; first < structure.units.size();) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = 1 + random() % std::min<std::size_t>(3, structure.units.size() - first);
        bool replicable = true;
        for (std::size_t i = 0; i < stage.task_count; ++i)
            replicable &= structure.units[first + i].replicable;
        stage.threads = replicable ? 1 + static_cast<int>(random() % 3) : 1;
        stage.core_kind = "big";
        first += stage.task_count;
        if (first < structure.units.size()) stage.sync_buff_size = 1 + static_cast<int>(random() % 3);
    }
    return schedule;
}

constexpr std::uint64_t kFrames = 90;

template <class Make>
Words run(const Program& program, Make make) {
    Words seen;
    Graph graph;
    program.build(graph, seen);
    auto executor = make(graph);
    executor.run({.frames = kFrames / 2});
    executor.resume({.frames = kFrames / 2});
    return seen;
}

/// source -> a -> b -> c, with what c made `frames` frames before going into a.
void build_loop(Graph& graph, std::size_t frames) {
    auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    auto& delay = graph.add<Delay<int>>("delay", 1, frames);
    auto& a = graph.add(task("a", in<int>("x"), in<int>("past"), out<int>("y"),
                             [](auto x, auto past, auto y) { y[0] = x[0] + past[0]; }));
    auto& b = graph.add(task("b", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0] + 1; }));
    auto& c = graph.add(task("c", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0] + 1; }));
    graph.bind(source["y"], a["x"]);
    graph.bind(delay.delayed, a["past"]);
    graph.bind(a["y"], b["x"]);
    graph.bind(b["y"], c["x"]);
    graph.bind(c["y"], delay.now);
}

}  // namespace

TEST_CASE(
    "a circle through a long delay may be cut; through a short one, or with skips on it, it is one unit") {
    Graph short_one;
    build_loop(short_one, 3);
    CHECK(structure_of(short_one).units.size() == 2);
    CHECK(structure_of(short_one).flight.frames == kEndless);
    Graph long_one;
    build_loop(long_one, 4);
    const Structure open = structure_of(long_one);
    CHECK(open.units.size() == 6);
    CHECK(open.flight.frames == 4);
    CHECK(open.flight.task == "delay.read");
    for (const ScheduledUnit& unit : open.units) CHECK(unit.tasks.size() == 1);

    Graph skips;
    auto& source = skips.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& delay = skips.add<Delay<int>>("delay", 1, 16);
    auto& thin = skips.add(task("thin", pure, may_skip, in<int>("x"), in<int>("past"), out<int>("y"),
                                [](auto, auto, auto) { return Flow::skip; }));
    skips.bind(source["y"], thin["x"]);
    skips.bind(delay.delayed, thin["past"]);
    skips.bind(thin["y"], delay.now);
    CHECK(structure_of(skips).units.size() == 2);
}

TEST_CASE("no more frames are in flight than the delay is long, and a larger batch is refused") {
    Graph graph;
    build_loop(graph, 5);
    const Structure structure = structure_of(graph);
    Schedule apart = thread_per_task(structure, 3);
    CHECK(Pipeline(graph, apart).run({.frames = 30}).segments.front().tokens == 5);
    CHECK(Pipeline(graph, apart, {.frames = 2}).run({.frames = 30}).segments.front().tokens == 2);
    CHECK_THROWS_WITH_AS(
        Pipeline(graph, apart, {.frames = 6}),
        "delay.read gives what was 5 frames before, and stages hand over 6 frames at a time: "
        "hand over at most 5, or make the delay longer",
        GraphError);
    CHECK(Dynamic(graph, {.workers = 4}).tokens().front() == 5);
}

TEST_CASE("random circles give under every executor, cut and batch what they mean") {
    int open = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        INFO("seed ", seed);
        const Program program(seed);
        const Words expected = program.meaning(kFrames);
        CHECK(run(program, [](Graph& graph) { return Sequence(graph); }) == expected);
        std::mt19937_64 random(seed);
        for (int i = 0; i < 4; ++i) {
            CHECK(run(program, [&](Graph& graph) {
                      const Structure structure = structure_of(graph);
                      open += structure.flight.frames != kEndless;
                      const auto most = std::min<std::uint64_t>(structure.flight.frames, 6);
                      return Pipeline(graph, random_cut(structure, random),
                                      {.waiting = i == 0 ? WaitMode::mixed : WaitMode::passive,
                                       .frames = static_cast<std::uint32_t>(1 + random() % most)});
                  }) == expected);
        }
        CHECK(run(program, [&](Graph& graph) { return Dynamic(graph, {.workers = 1 + random() % 4}); }) ==
              expected);
    }
    CHECK(open > 100);
}

TEST_CASE("a circle that was cut goes on where runs were ended, at whatever frame that was") {
    const Program program(3);
    Words seen;
    Graph graph;
    program.build(graph, seen);
    Pipeline pipeline(graph, thread_per_task(graph, 2));
    CHECK(pipeline.structure().flight.frames != kEndless);
    std::uint64_t begun = 0;
    for (std::uint64_t piece = 1; begun < kFrames; ++piece) {
        std::uint64_t asked = 0;
        begun +=
            pipeline.resume({.frames = kFrames - begun, .stop_when = [&] { return ++asked > piece; }}).frames;
    }
    CHECK(seen == program.meaning(kFrames));
}
