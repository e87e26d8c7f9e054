#include "tidemill/runtime/execute/late.hpp"

#include <atomic>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/clock.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;

namespace {

/// A source that does not wait, and a sink that lets it make two frames in the time of one.
struct Hurried {
    explicit Hurried(bool hurries) {
        auto& source = graph.add<Source>(made);
        auto& amp = graph.add(task("amp", knob("gain", 1u), in<unsigned>("x"), out<unsigned>("y"),
                                   [](unsigned factor, auto x, auto y) { y[0] = factor * x[0]; }));
        auto& even = graph.add<Even>();
        auto& sink = graph.add(task("sink", in<unsigned>("x"), [this, hurries](auto x) {
            got.push_back(x[0]);
            const unsigned seen = made;
            while (hurries && made < seen + 4 && made < last) std::this_thread::yield();
        }));
        graph.bind(source["y"], amp["x"]);
        graph.bind(amp["y"], even["x"]);
        graph.bind(even["y"], sink["x"]);
        gain = amp.find_knob<unsigned>("gain");
    }

    static constexpr unsigned kFrames = 5000;

    /// Its own count is the frame's number, whatever became of the frames before.
    struct Source : Module {
        explicit Source(std::atomic<unsigned>& its_made) : made(&its_made) {}
        Out<unsigned> y = out<unsigned>("y");
        Task make = task("make", &Source::run);
        std::atomic<unsigned>* made;
        unsigned n = 0;
        Flow run(Frame f) {
            CHECK(f.number() == n);
            f[y][0] = n++;
            *made = n;
            return n > kFrames ? Flow::stop : Flow::ok;
        }
    };
    /// Lets a later segment begin.
    struct Even : Module {
        In<unsigned> x = in<unsigned>("x");
        Out<unsigned> y = out<unsigned>("y");
        Task pick = task("pick", &Even::run, may_skip);
        Flow run(Frame f) const {
            f[y][0] = f[x][0];
            return f.number() % 3 == 0 ? Flow::skip : Flow::ok;
        }
    };

    Graph graph{};
    std::atomic<unsigned> last{kFrames};  // that the source is going to make
    std::atomic<unsigned> made{0};
    std::vector<unsigned> got{};
    Knob<unsigned> gain{};
};

}  // namespace

TEST_CASE("what a source makes when there is no room is dropped, counted, and dropped again in a replay") {
    for (const auto& [late, batch] : {std::pair(Late::drop_newest, 1u), std::pair(Late::drop_newest, 3u),
                                      std::pair(Late::drop_oldest, 1u)}) {
        CAPTURE(late);
        CAPTURE(batch);
        Hurried live(true);
        std::stringstream text;
        Journal journal(text);
        Pipeline pipeline(live.graph, thread_per_task(structure_of(live.graph)), {.frames = batch});
        pipeline.set(live.gain, 2u, From{1000});
        const RunReport report = pipeline.run({.journal = &journal, .late = late});
        CHECK(report.frames == Hurried::kFrames);
        CHECK(report.dropped > 0);
        CHECK(live.got.size() == report.delivered);
        const JournalRecord record = parse_journal(text, "journal");
        std::uint64_t dropped = 0;
        for (const JournalRecord::Drop& each : record.drops) dropped += each.frames;
        CHECK(dropped == report.dropped);

        const auto replay = [&](auto make) {
            Hurried again(false);
            std::stringstream text_again;
            Journal journal_again(text_again);
            const RunReport told =
                make(again.graph, RunOptions{.journal = &journal_again, .replay = &record});
            CHECK(told.frames == report.frames);
            CHECK(told.dropped == report.dropped);
            CHECK(told.delivered == report.delivered);
            CHECK(again.got == live.got);
        };
        replay([](Graph& g, const RunOptions& options) { return Sequence(g).run(options); });
        replay([](Graph& g, const RunOptions& options) {
            return Pipeline(g, thread_per_task(structure_of(g), 2), {.frames = 4}).run(options);
        });
        replay([](Graph& g, const RunOptions& options) { return Dynamic(g, {.workers = 2}).run(options); });
    }
}

TEST_CASE("behind a frame that takes long come the newest ones, or those that were there first") {
    for (const Late late : {Late::drop_newest, Late::drop_oldest}) {
        Graph graph;
        std::atomic<unsigned> made{0};
        std::vector<unsigned> got;
        auto& source = graph.add(task("source", sequential, out<unsigned>("y"), [&](auto y) {
            y[0] = made++;
            return made > 1010 ? Flow::stop : Flow::ok;
        }));
        auto& sink = graph.add(task("sink", sequential, in<unsigned>("x"), [&](auto x) {
            while (got.empty() && made < 1000) std::this_thread::yield();
            got.push_back(x[0]);
        }));
        graph.chain(source, sink);
        const RunReport report =
            Pipeline(graph, thread_per_task(graph), {.ring_depth = 4}).run({.late = late});
        REQUIRE(got.size() > 1);
        CHECK(std::ranges::is_sorted(got));
        // As many wait as there are tokens; while the sink comes to itself, there may be some more.
        if (late == Late::drop_newest) CHECK(got[1] == 1);
        if (late == Late::drop_oldest) CHECK(got[1] > 990);
        CHECK(report.delivered == got.size());
        CHECK(report.delivered + report.dropped == report.frames);
    }
}

TEST_CASE("the oldest frame is dropped only where a replay can do without what has run on it") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y"), [](auto y) { y[0] = 0; }));
    auto& sum = graph.add(task("sum", sequential, forward<int>("x"), [](auto) {}));
    auto& sink = graph.add(task("sink", sequential, in<int>("x"), [](auto) {}));
    graph.chain(source, sum, sink);
    const RunOptions drops{.frames = 1, .late = Late::drop_oldest};
    CHECK_THROWS_WITH(
        Pipeline(graph, thread_per_task(graph), {.frames = 2}).run(drops),
        "the oldest frame is dropped where one goes to a token: hand over single frames, or drop the "
        "newest");
    Schedule two = thread_per_task(graph);
    two.stages = {two.stages[0], two.stages[2]};
    two.stages[0].task_count = 2;
    CHECK_THROWS_WITH(
        Pipeline(graph, two).run(drops),
        "sum.sum keeps state and is in the first stage: it would see frames that are dropped behind it; "
        "put it into a later stage, or drop the newest");
    Graph other;
    auto& number = other.add(task("number", sequential, out<int>("y"), [](auto y) { y[0] = 0; }));
    auto& pick =
        other.add(task("pick", sequential, may_skip, forward<int>("x"), [](auto) { return Flow::ok; }));
    auto& last = other.add(task("last", sequential, in<int>("x"), [](auto) {}));
    other.chain(number, pick, last);
    Schedule picks = thread_per_task(other);
    picks.stages = {picks.stages[0], picks.stages[2]};
    picks.stages[0].task_count = 2;
    CHECK_THROWS_WITH(
        Pipeline(other, picks).run(drops),
        "pick.pick in the first stage skips or repeats, so that no frame waits behind it: put it into a "
        "later stage, or drop the newest");
}

TEST_CASE("a run of so many frames ends there, also when the last ones are dropped") {
    Hurried live(true);
    Pipeline pipeline(live.graph, thread_per_task(structure_of(live.graph)));
    live.last = 1000;
    const RunReport first = pipeline.run({.frames = 1000, .late = Late::drop_newest});
    CHECK(first.frames == 1000);
    live.last = 2000;
    const RunReport second = pipeline.resume({.frames = 1000, .late = Late::drop_newest});
    CHECK(second.frames == 1000);
    CHECK(live.made == 2000);
}

TEST_CASE("in order there is always room, so nothing is dropped") {
    Hurried live(false);
    const RunReport report = Sequence(live.graph).run({.frames = 100, .late = Late::drop_newest});
    CHECK(report.dropped == 0);
}

TEST_CASE("who is told of late frames may turn a knob, and a replay turns it at the same frames") {
    struct Stream {
        explicit Stream(bool works) {
            auto& source = graph.add(
                task("source", sequential, out<unsigned>("y"), [n = 0u](auto y) mutable { y[0] = n++; }));
            auto& slow =
                graph.add(task("slow", sequential, knob("rounds", 8u), forward<unsigned>("x"),
                               [works](unsigned times, auto x) {
                                   x[0] = 100 * x[0] + times;
                                   if (works)
                                       std::this_thread::sleep_for(times * std::chrono::milliseconds(1));
                               }));
            auto& sink = graph.add(
                task("sink", sequential, in<unsigned>("x"), [this](auto x) { got.push_back(x[0]); }));
            rounds = slow.find_knob<unsigned>("rounds");
            graph.chain(source, slow, sink);
        }
        Graph graph{};
        Knob<unsigned> rounds{};
        std::vector<unsigned> got{};
    };
    Stream live(true);
    std::stringstream text;
    Journal journal(text);
    Pipeline pipeline(live.graph, thread_per_task(live.graph), {.ring_depth = 1});
    std::set<std::string> blamed;  // on a busy machine others are late, too
    unsigned rounds = 8;
    const RunReport report = pipeline.run({.frames = 40,
                                           .journal = &journal,
                                           .deadline = std::chrono::milliseconds(7),
                                           .when_late = [&](const LateFrame& late) {
                                               blamed.insert(late.task);
                                               if (rounds > 1) pipeline.set(live.rounds, --rounds);
                                           }});
    CHECK(report.late > 0);
    CHECK(blamed.contains("slow.slow"));
    CHECK(rounds < 8);
    CHECK(live.got.back() % 100 < 8);
    const JournalRecord record = parse_journal(text, "journal");
    Stream again(false);
    Dynamic(again.graph, {.workers = 2}).run({.replay = &record});
    CHECK(again.got == live.got);
    Stream dynamic(true);
    std::atomic<int> told{0};
    const RunReport late =
        Dynamic(dynamic.graph, {.workers = 2})
            .run({.frames = 5, .deadline = std::chrono::milliseconds(7), .when_late = [&](const LateFrame&) {
                      ++told;
                  }});
    CHECK(static_cast<std::uint64_t>(told) == late.late);
    CHECK(told > 0);
}

TEST_CASE("of late frames behind the stream's end nobody is told") {
    Graph graph;
    auto& source = graph.add(
        task("source", sequential, knob("gain", 1u), out<int>("y"), [](unsigned, auto y) { y[0] = 1; }));
    int ends = 0;
    auto& last = graph.add(task("last", sequential, at_end, in<int>("x"), [&](auto x) {
        if (x.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ends += x.empty();
    }));
    graph.chain(source, last);
    Sequence sequence(graph);
    const auto gain = source.find_knob<unsigned>("gain");
    sequence.run({.frames = 3,
                  .finish = true,
                  .deadline = std::chrono::milliseconds(5),
                  .when_late = [&](const LateFrame&) { sequence.set(gain, 2u); }});
    CHECK(ends == 1);
}

TEST_CASE("late frames are dropped only where all sources stay at one frame") {
    Graph graph;
    auto& numbers = graph.add(task("numbers", pure, out<int>("y"), [](auto y) { y[0] = 0; }));
    auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
    auto& other = graph.add(task("other", out<int>("y"), [](auto y) { y[0] = 0; }));
    auto& last = graph.add(task("last", in<int>("x"), [](auto) {}));
    graph.chain(numbers, sink);
    graph.chain(other, last);
    const RunOptions drops{.frames = 1, .late = Late::drop_newest};
    const Structure structure = structure_of(graph);
    CHECK_THROWS_WITH(
        Pipeline(graph, thread_per_task(structure)).run(drops),
        "other.other has no inputs and is not in the first stage: a late frame would be dropped "
        "without it; put it there, or let sources wait");
    CHECK_THROWS_WITH(
        Pipeline(graph, thread_per_task(structure, 2)).run(drops),
        "the first stage has 2 threads: late frames are dropped where one thread begins them; give "
        "it one, or let the source wait");
    CHECK_THROWS_WITH(Dynamic(graph).run(drops),
                      "dynamic workers ask a source only when there is room: drop late frames in a Pipeline");
}

namespace {

/// The second task takes longer than the deadline on every tenth frame.
struct Slow {
    Slow() {
        auto& source =
            graph.add(task("source", out<unsigned>("y"), [n = 0u](auto y) mutable { y[0] = n++; }));
        auto& slow = graph.add(task("slow", forward<unsigned>("x"), [](auto x) {
            const auto end = std::chrono::steady_clock::now() + kDeadline + std::chrono::milliseconds(1);
            while (x[0] % 10 == 0 && std::chrono::steady_clock::now() < end) {
            }
        }));
        auto& sink = graph.add(task("sink", in<unsigned>("x"), [](auto) {}));
        graph.chain(source, slow, sink);
    }
    static constexpr std::chrono::milliseconds kDeadline{50};
    Graph graph{};
};

}  // namespace

TEST_CASE("a frame that takes longer than the deadline is counted once, with the task that made it late") {
    const RunOptions options{.frames = 20, .statistics = false, .deadline = Slow::kDeadline};
    const auto check = [](const RunReport& report) {
        CHECK(report.tasks[1].late >= 2);
        CHECK(report.late == report.tasks[0].late + report.tasks[1].late + report.tasks[2].late);
        CHECK(report.late <= 20);
    };
    Slow ordered;
    const RunReport report = Sequence(ordered.graph).run(options);
    check(report);
    Slow staged;
    check(Pipeline(staged.graph, thread_per_task(structure_of(staged.graph))).run(options));
    Slow dynamic;
    check(Dynamic(dynamic.graph, {.workers = 2, .window = {.iterations = 1}}).run(options));
    Slow relaxed;
    CHECK(Sequence(relaxed.graph).run({.frames = 20}).late == 0);
}

TEST_CASE("a clock begins its frames one period after the other, and no earlier") {
    Graph graph;
    auto& clock = graph.add<Clock>(std::chrono::milliseconds(2));
    std::vector<std::uint64_t> ticks;
    auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto x) { ticks.push_back(x[0]); }));
    graph.chain(clock, sink);
    const auto start = std::chrono::steady_clock::now();
    Sequence(graph).run({.frames = 6});
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(10));
    CHECK(ticks == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_WITH(graph.add<Clock>(std::chrono::milliseconds(0)),
                      "a clock with a period of 0 ns: give more than 0");
}
