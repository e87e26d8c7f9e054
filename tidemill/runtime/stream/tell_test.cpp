#include <functional>
#include <limits>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/stream/journal.hpp"

using namespace tidemill;

namespace {

/// Sets a gain in front of it by each frame.
struct Control : Module {
    Control(const Knob<std::uint32_t>& its_gain, std::uint64_t frames) : gain(its_gain), after(frames) {}
    In<std::uint32_t> x = in<std::uint32_t>("x");
    Out<std::uint32_t> y = out<std::uint32_t>("y");
    Task run = task("run", &Control::control);
    void control(Frame f) {
        state = 31 * state + f[x][0];
        f[y][0] = state;
        if (state % 3 != 0) f.tell(gain, state % 1000, {.after = after});
    }
    Knob<std::uint32_t> gain;
    std::uint64_t after;
    std::uint32_t state = 1;
};

struct Loop {
    explicit Loop(std::uint64_t after) {
        auto& source = graph.add(
            task("source", sequential, out<std::uint32_t>("y"), [n = 0u](auto y) mutable { y[0] = n++; }));
        auto& amp = graph.add(task("amp", pure, knob("gain", 1u, Range{0, 2000}), in<std::uint32_t>("x"),
                                   out<std::uint32_t>("y"),
                                   [](std::uint32_t g, auto x, auto y) { y[0] = g * x[0] + g; }));
        gain = amp.find_knob<std::uint32_t>("gain");
        auto& control = graph.add<Control>(gain, after);
        auto& sink = graph.add(
            task("sink", sequential, in<std::uint32_t>("x"), [this](auto x) { sum = 31 * sum + x[0]; }));
        graph.chain(source, amp, control, sink);
    }

    Graph graph{};
    Knob<std::uint32_t> gain{};
    std::uint64_t sum = 0;
};

using Execute = std::function<RunReport(Graph&, const RunOptions&)>;

const std::vector<Execute>& executors() {
    static const std::vector<Execute> all{
        [](Graph& g, const RunOptions& options) { return Sequence(g).run(options); },
        [](Graph& g, const RunOptions& options) { return Pipeline(g, thread_per_task(g)).run(options); },
        [](Graph& g, const RunOptions& options) {
            return Pipeline(g, thread_per_task(structure_of(g), 2), {.frames = 2}).run(options);
        },
        [](Graph& g, const RunOptions& options) { return Dynamic(g, {.workers = 2}).run(options); },
    };
    return all;
}

std::string error_of(std::uint64_t after, const Execute& execute,
                     const RunOptions& options = {.frames = 50}) {
    Loop loop(after);
    try {
        execute(loop.graph, options);
    } catch (const FrameError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("what a task tells a knob holds so many frames later, the same under every executor") {
    Loop in_order(64);
    Sequence(in_order.graph).run({.frames = 3000, .knobs = KnobSettings(in_order.gain, 7u, From{1000})});
    for (const Execute& execute : executors()) {
        Loop loop(64);
        execute(loop.graph, {.frames = 3000, .knobs = KnobSettings(loop.gain, 7u, From{1000})});
        CHECK(loop.sum == in_order.sum);
    }
    Loop other(65);
    Sequence(other.graph).run({.frames = 3000});
    CHECK(other.sum != in_order.sum);
}

TEST_CASE("a run in which knobs are told and set is replayed, resumed and begun anew to the same bytes") {
    Loop live(64);
    std::stringstream text;
    Journal journal(text);
    Pipeline pipeline(live.graph, thread_per_task(live.graph));
    std::uint64_t asked = 0;
    pipeline.run({.frames = 2000,
                  .stop_when =
                      [&] {
                          if (++asked % 50 == 0)
                              pipeline.set(live.gain, static_cast<std::uint32_t>(asked % 2000));
                          return false;
                      },
                  .journal = &journal});
    const JournalRecord record = parse_journal(text, "journal");
    for (const Execute& execute : executors()) {
        Loop again(64);
        execute(again.graph, {.replay = &record});
        CHECK(again.sum == live.sum);
    }
    Loop whole(64);
    Sequence(whole.graph).run({.frames = 400});
    Loop parts(64);
    Sequence(parts.graph).run({.frames = 130});
    Pipeline(parts.graph, thread_per_task(parts.graph)).resume({.frames = 140});
    Dynamic(parts.graph, {.workers = 2}).resume({.frames = 130});
    CHECK(parts.sum == whole.sum);
}

TEST_CASE("what was told of frames that never came is forgotten by the next run") {
    Graph graph;
    std::vector<std::uint32_t> seen;
    bool tells = true;
    auto& source = graph.add(task("source", sequential, knob("gain", 1u), out<std::uint32_t>("y"),
                                  [](std::uint32_t gain, auto y) { y[0] = gain; }));
    const auto gain = source.find_knob<std::uint32_t>("gain");
    struct Sink : Module {
        Sink(const Knob<std::uint32_t>& its_gain, std::vector<std::uint32_t>& its_seen, bool& its_tells)
            : gain(its_gain), seen(its_seen), tells(its_tells) {}
        In<std::uint32_t> x = in<std::uint32_t>("x");
        Task run = task("run", &Sink::take);
        void take(Frame f) {
            seen.push_back(f[x][0]);
            if (tells && f.number() == 8) f.tell(gain, 5, {.after = 6});
        }
        Knob<std::uint32_t> gain;
        std::vector<std::uint32_t>& seen;
        bool& tells;
    };
    auto& sink = graph.add<Sink>(gain, seen, tells);
    graph.chain(source, sink);
    Sequence(graph).run({.frames = 10});
    tells = false;
    seen.clear();
    Sequence(graph).run({.frames = 20});
    CHECK(seen == std::vector<std::uint32_t>(20, 1));
    tells = true;
    seen.clear();
    Sequence(graph).run({.frames = 16, .knobs = KnobSettings(gain, 3u, From{14})});
    CHECK(seen == std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 5});
}

TEST_CASE(
    "a knob that is told nearer than the frames in flight is refused, and so is what is no value of it") {
    CHECK(error_of(1, executors()[0]) == "");
    CHECK(error_of(0, executors()[0]).find("a knob is set 0 frames ahead, but 1 may be in flight") !=
          std::string::npos);
    for (std::size_t which = 1; which < executors().size(); ++which)
        CHECK(error_of(1, executors()[which]).find("a knob is set 1 frames ahead, but ") !=
              std::string::npos);
    Graph graph;
    auto& amp = graph.add(task("amp", sequential, knob("gain", 1.0f, Range{0, 10}), out<float>("y"),
                               [](float gain, auto y) { y[0] = gain; }));
    struct Bad : Module {
        explicit Bad(const Knob<float>& its_gain) : gain(its_gain) {}
        In<float> x = in<float>("x");
        Task run = task("run", &Bad::take);
        void take(Frame f) {
            if (twice) f.tell(gain, 1.0f, {.after = 5});
            f.tell(gain, value, {.after = 5});
        }
        Knob<float> gain;
        float value = 11;
        bool twice = false;
    };
    auto& bad = graph.add<Bad>(amp.find_knob<float>("gain"));
    graph.chain(amp, bad);
    const auto error = [&] {
        try {
            Sequence(graph).run({.frames = 1});
        } catch (const FrameError& thrown) {
            return std::string(thrown.what());
        }
        return std::string();
    };
    CHECK(error().find("amp.gain: 11 is out of its range; give 0 to 10") != std::string::npos);
    bad.value = std::numeric_limits<float>::quiet_NaN();
    CHECK(error().find("amp.gain") != std::string::npos);
    bad.value = 2;
    CHECK(error() == "");
    bad.twice = true;
    CHECK(error().find("frame 0 sets a knob to two values for frame 5: set it once a frame") !=
          std::string::npos);
}

TEST_CASE("behind a task that skips, at the end, and where late frames are dropped no knob can be told") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, knob("gain", 1u), out<std::uint32_t>("y"),
                                  [](std::uint32_t gain, auto y) { y[0] = gain; }));
    auto& pick = graph.add(
        task("pick", sequential, may_skip, forward<std::uint32_t>("x"), [](auto) { return Flow::ok; }));
    auto& control = graph.add<Control>(source.find_knob<std::uint32_t>("gain"), 64);
    auto& sink = graph.add(task("sink", sequential, in<std::uint32_t>("x"), [](auto) {}));
    graph.chain(source, pick, control, sink);
    for (const Execute& execute : executors()) CHECK_THROWS_AS(execute(graph, {.frames = 50}), FrameError);
    CHECK(error_of(64, executors()[1], {.frames = 50, .late = Late::drop_newest})
              .find("no knob can be set from here") != std::string::npos);
}

TEST_CASE("a testbench writes down what a module tells") {
    Graph graph;
    auto& amp = graph.add(task("amp", knob("gain", 1u), out<std::uint32_t>("y"), [](std::uint32_t, auto) {}));
    Testbench<Control> bench(amp.find_knob<std::uint32_t>("gain"), 8u);
    bench.at_frame(3).feed(bench->x, {5}).step();
    REQUIRE(bench.told().empty());
    bench.feed(bench->x, {7}).step();
    REQUIRE(bench.told().size() == 1);
    CHECK(bench.told()[0].frame == 4);
    CHECK(bench.told()[0].after == 8);
}
