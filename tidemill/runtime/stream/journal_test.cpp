#include "tidemill/runtime/stream/journal.hpp"

#include <atomic>
#include <latch>
#include <sstream>
#include <streambuf>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/testing/random_runs.hpp"

using namespace tidemill;

namespace {

/// Result of a random program under an executor.
struct Made {
    explicit Made(const internal::RandomProgram& program) : modules(build(program, graph, outcome)) {}

    void run(Executor& executor, const RunOptions& options) {
        const RunReport report = executor.run(options);
        outcome.delivered = report.delivered;
        for (const internal::RandomModule* module : modules) outcome.total += module->total;
    }

    Graph graph{};
    internal::RandomOutcome outcome{};
    std::vector<internal::RandomModule*> modules;
};

internal::RandomProgram endless(std::uint64_t seed) {
    internal::RandomProgram program = internal::RandomProgramMaker(seed).make();
    program.frames = 400;
    program.settings.clear();
    for (internal::RandomTask& task : program.tasks) {
        task.stops_at.reset();
        task.throws_at.reset();
    }
    return program;
}

/// Turns all knobs at random while it lives.
class Turner {
  public:
    Turner(Executor& executor, const Made& made, std::uint64_t seed)
        : thread_([&executor, &made, seed](const std::stop_token& stop) {
              std::mt19937_64 random(seed);
              while (!stop.stop_requested()) {
                  const auto& knobs = made.modules[random() % made.modules.size()]->knobs;
                  const auto value = static_cast<std::uint32_t>(random() % 1000);
                  if (!knobs.empty()) executor.set(knobs[0], value);
                  std::this_thread::yield();
              }
          }) {}

  private:
    std::jthread thread_;
};

template <class Executor>
std::string live(Made& made, Executor executor, const internal::RandomProgram& program, std::uint64_t seed,
                 Late late = Late::wait) {
    std::ostringstream text;
    Journal journal(text);
    const Turner turner(executor, made, seed);
    made.run(executor, {.frames = program.frames, .statistics = false, .journal = &journal, .late = late});
    return text.str();
}

/// In a pipeline whose first thread drops what is late, or what is oldest, where the program allows that.
std::string live_and_late(const internal::RandomProgram& program, std::uint64_t seed,
                          internal::RandomOutcome& outcome) {
    for (const Late late : {seed % 2 ? Late::drop_newest : Late::drop_oldest, Late::wait}) {
        Made lived(program);
        try {
            const Schedule schedule = thread_per_task(lived.graph);
            const std::string text = live(lived, Pipeline(lived.graph, schedule), program, seed, late);
            outcome = lived.outcome;
            return text;
        } catch (const RunError&) {
            // A source in another stage, or state behind what would be dropped.
        }
    }
    return {};
}

template <class Executor>
void check_replay(const internal::RandomProgram& program, const internal::RandomOutcome& expected,
                  const JournalRecord& record, Made& made, Executor executor) {
    made.run(executor, {.statistics = false, .replay = &record});
    check_same(made.outcome, expected, internal::Ahead::none);
    CHECK(made.outcome.collected.size() == program.tasks.size());
}

JournalRecord parsed(const std::string& text) {
    std::istringstream from(text);
    return parse_journal(from, "run.jsonl");
}

void build_amp(Graph& graph) {
    auto& source =
        graph.add(task("amp", knob("gain", 1.0), knob("taps", std::vector<int>{1, 2}), out<double>("y"),
                       [](double gain, auto taps, auto y) { y[0] = gain + taps[0]; }));
    auto& sink = graph.add(task("sink", in<double>("x"), [](auto) {}));
    graph.chain(source, sink);
}

/// Takes nothing until it is let go.
class StandingDisk : public std::streambuf {
  public:
    void disable_backpressure() { goes_.count_down(); }

  private:
    int_type overflow(int_type byte) override {
        goes_.wait();
        return byte;
    }

    std::latch goes_{1};
};

constexpr const char* kHead = "{\"tidemill_journal\":1,\"graph\":\"0\",\"frame\":5}\n";

}  // namespace

TEST_CASE("a live run whose knobs are turned and frames dropped at random is replayed to the bit") {
    std::size_t dropped = 0;
    for (std::uint64_t seed = 1; seed <= internal::random_programs(40); ++seed) {
        INFO("seed ", seed);
        const internal::RandomProgram program = endless(seed);
        std::mt19937_64 random(seed);
        const Schedule schedule = internal::random_schedule(program, random);
        Made lived(program);
        const std::string text =
            seed % 4 == 0   ? live(lived, Sequence(lived.graph), program, seed)
            : seed % 4 == 1 ? live(lived, Pipeline(lived.graph, schedule, {.frames = 3}), program, seed)
            : seed % 4 == 2 ? live(lived, Dynamic(lived.graph, {.workers = 3}), program, seed)
                            : live_and_late(program, seed / 4, lived.outcome);
        const JournalRecord record = parsed(text);
        CHECK(record.end == program.frames);
        dropped += !record.drops.empty();
        Made ordered(program);
        check_replay(program, lived.outcome, record, ordered, Sequence(ordered.graph));
        Made staged(program);
        check_replay(program, lived.outcome, record, staged,
                     Pipeline(staged.graph, internal::random_schedule(program, random), {.frames = 2}));
        Made dynamic(program);
        check_replay(program, lived.outcome, record, dynamic, Dynamic(dynamic.graph, {.workers = 2}));
    }
    fmt::print("live runs that dropped frames and were replayed: {}\n", dropped);
    CHECK(dropped > 0);
}

TEST_CASE("a journal tells the graph, all knobs at the beginning, each change and the end") {
    Graph graph;
    build_amp(graph);
    Sequence sequence(graph);
    std::ostringstream text;
    Journal journal(text);
    const Module& amp = graph.module(0);
    sequence.set(amp.find_knob<double>("gain"), 0.1, From{7});
    sequence.run({.frames = 10, .journal = &journal});
    CHECK(text.str() == "{\"tidemill_journal\":1,\"graph\":\"" + identity_of(graph) +
                            "\",\"frame\":0}\n"
                            "{\"frame\":0,\"set\":{\"amp.gain\":1.0,\"amp.taps\":[1.0,2.0]}}\n"
                            "{\"frame\":7,\"set\":{\"amp.gain\":0.1}}\n"
                            "{\"end\":10}\n");
    sequence.set(amp.find_knob<double>("gain"), 0.3);
    sequence.resume({.frames = 10, .journal = &journal});
    const JournalRecord record = parsed(text.str());
    CHECK(record.settings.back().values.front().second == std::vector<double>{0.3});
    CHECK(record.end == 20);
    CHECK_THROWS_WITH(sequence.run({.frames = 1, .journal = &journal}),
                      "the journal holds a run already: give each run() a journal of its own");
}

TEST_CASE("a disk that stands still holds up no frame, and nobody who sets knobs") {
    StandingDisk disk;
    std::ostream to(&disk);
    Journal journal(to);
    Graph graph;
    build_amp(graph);
    Pipeline pipeline(graph, thread_per_task(structure_of(graph)));
    std::atomic<std::uint64_t> asked{0};
    std::atomic<bool> over{false};
    const std::jthread run([&] {
        pipeline.run({.stop_when = [&] { return asked.fetch_add(1) > 3000; }, .journal = &journal});
        over = true;
    });
    for (std::uint64_t changes = 1; changes < 20; ++changes) {
        while (asked < 100 * changes) std::this_thread::yield();
        pipeline.set(graph.module(0).find_knob<double>("gain"), 2);
    }
    while (asked < 3000) std::this_thread::yield();
    CHECK_FALSE(over);  // a run ends when its journal is written
    disk.disable_backpressure();
}

TEST_CASE("a journal of a run that a task ended has no last frame, and a replay ends as that run did") {
    const auto run = [](Journal* journal, const JournalRecord* replay) {
        Graph graph;
        auto& source = graph.add(
            task("source", knob("last", 5u), out<unsigned>("y"), [n = 0u](unsigned last, auto y) mutable {
                y[0] = n;
                return ++n > last ? Flow::stop : Flow::ok;
            }));
        unsigned seen = 0;
        auto& sink = graph.add(task("sink", in<unsigned>("x"), [&](auto x) { seen = x[0]; }));
        graph.chain(source, sink);
        Sequence sequence(graph);
        if (!replay) sequence.set(source.find_knob<unsigned>("last"), 9u, From{4});
        sequence.run({.journal = journal, .replay = replay});
        return seen;
    };
    std::ostringstream text;
    Journal journal(text);
    CHECK(run(&journal, nullptr) == 8);
    CHECK(text.str().ends_with("{\"end\":\"by a task\"}\n"));
    const JournalRecord record = parsed(text.str());
    CHECK(!record.end);
    CHECK(run(nullptr, &record) == 8);
}

TEST_CASE("a run that was the stream's end is replayed with what came at the end") {
    struct Ends {
        Ends() {
            auto& source =
                graph.add(task("source", sequential, out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
            auto& last = graph.add(task("last", sequential, at_end, in<int>("x"),
                                        [this](auto x) { seen.push_back(x.empty() ? -1 : x[0]); }));
            graph.chain(source, last);
        }
        Graph graph{};
        std::vector<int> seen{};
    };
    for (const bool finishes : {false, true}) {
        Ends lived;
        std::stringstream text;
        {
            Journal journal(text);
            Sequence(lived.graph).run({.frames = 3, .finish = finishes, .journal = &journal});
        }
        CHECK((text.str().find("finished") != std::string::npos) == finishes);
        const JournalRecord record = parsed(text.str());
        CHECK(record.finished == finishes);
        Ends ordered;
        Sequence(ordered.graph).run({.replay = &record});
        CHECK(ordered.seen == lived.seen);
        Ends dynamic;
        Dynamic(dynamic.graph, {.workers = 2}).run({.replay = &record});
        CHECK(dynamic.seen == lived.seen);
    }
    CHECK_THROWS_AS(parsed(std::string(kHead) + "{\"dropped\":1,\"frame\":5,\"finished\":true}\n"),
                    JournalError);
}

TEST_CASE("a journal that cannot be replayed says why in one sentence") {
    const std::string head = kHead;
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            parsed(text);
        } catch (const JournalError& error) {
            return error.what();
        }
        return {};
    };
    CHECK(refusal("") == "run.jsonl is empty: it is no journal");
    CHECK(refusal("{\"tasks\":[]}\n") == "run.jsonl is no journal: its first line does not say so");
    CHECK(refusal("{\"tidemill_journal\":2,\"graph\":\"0\",\"frame\":0}\n{\"end\":1}\n") ==
          "run.jsonl is a journal of version 2; this program reads version 1");
    CHECK(refusal(head) == "run.jsonl is cut off at line 1: its run did not end, or the file is not whole");
    CHECK(refusal(head + "{\"frame\":7,\"set\":{\"a.b\"") ==
          "run.jsonl is cut off at line 2: its run did not end, or the file is not whole");
    CHECK(refusal(head + "{\"frame\":4,\"set\":{}}\n{\"end\":9}\n") ==
          "run.jsonl, line 2.frame: lies before the journal's first frame");
    CHECK(refusal(head + "{\"frame\":7}\n{\"end\":9}\n") ==
          "run.jsonl, line 2: expected one of set, dropped and end");
    CHECK(refusal(head + "{\"frame\":7,\"set\":{\"a.b\":\"x\"}}\n{\"end\":9}\n") ==
          "run.jsonl, line 2.set.a.b: expected a number, found \"x\"");
    CHECK(refusal(head + "{\"frame\":7,\"dropped\":2}\n{\"frame\":8,\"dropped\":1}\n{\"end\":9}\n") ==
          "run.jsonl, line 3.frame: lies before the frames that come before it in the journal");
    CHECK(refusal(head + "{\"frame\":7,\"dropped\":3}\n{\"end\":9}\n") ==
          "run.jsonl, line 3.end: lies before the frames that the run began");
    CHECK(refusal(head + "{\"frame\":5,\"set\":{\"a.b\":1}}\n{\"end\":9}\n{\"end\":12}\n") ==
          "run.jsonl, line 4: a run that goes on begins with the values of all knobs");
    CHECK(refusal(head + "{\"end\":9}\n").empty());
}

TEST_CASE("a journal that lacks what knobs began with, or has what they cannot be, is not replayed") {
    Graph graph;
    build_amp(graph);
    Sequence sequence(graph);
    const auto refusal = [&](const std::string& lines) -> std::string {
        const JournalRecord record = parsed("{\"tidemill_journal\":1,\"graph\":\"" + identity_of(graph) +
                                            "\",\"frame\":0}\n" + lines + "{\"end\":9}\n");
        try {
            sequence.run({.replay = &record});
        } catch (const JournalError& error) {
            return error.what();
        }
        return {};
    };
    const std::string missing =
        "the journal does not begin with the values of all 2 knobs at frame 0: it is not whole";
    CHECK(refusal("") == missing);
    CHECK(refusal("{\"frame\":0,\"set\":{\"amp.gain\":1}}\n") == missing);
    CHECK(refusal("{\"frame\":1,\"set\":{\"amp.gain\":1,\"amp.taps\":[1,2]}}\n") == missing);
    const std::string whole = "{\"frame\":0,\"set\":{\"amp.gain\":1,\"amp.taps\":[1,2]}}\n";
    CHECK(refusal(whole + "{\"frame\":4,\"set\":{\"amp.taps\":[1]}}\n")
              .starts_with("the journal's knobs at frame 4: "));
    CHECK(refusal(whole).empty());
}

TEST_CASE("a journal of another graph, or of a run that began elsewhere, is not replayed") {
    Graph graph;
    build_amp(graph);
    Sequence sequence(graph);
    JournalRecord record{.graph = "0", .first_frame = 0, .settings = {}, .drops = {}, .end = 10};
    CHECK_THROWS_WITH(sequence.run({.replay = &record}),
                      ("the journal is of another graph (0, this one is " + identity_of(graph) +
                       "): replay it with the program and the options that wrote it")
                          .c_str());
    record.graph = identity_of(graph);
    record.settings = {{0, {{"amp.gain", {1, 2}}}}};
    CHECK_THROWS_WITH(sequence.run({.replay = &record}),
                      "the journal's knobs at frame 0: amp.gain: 2 numbers for a knob of 1; give 1");
    record.settings.clear();
    record.first_frame = 5;
    CHECK_THROWS_WITH(sequence.run({.replay = &record}),
                      "the journal begins at frame 5, this run at frame 0: replay it with run()");
}
