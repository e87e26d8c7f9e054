#include "tidemill/runtime/execute/module_lifecycle.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;

namespace {

using Log = std::vector<std::string>;

struct Told : Module {
    Told(std::string name, Log& log) : Module(std::move(name)), log_(log) {}
    void begin(const Run& run) override {
        if (throws_in == "begin") throw std::runtime_error("no radio");
        log_.push_back(
            fmt::format("{} begins at {}{}", name(), run.first_frame, run.goes_on ? " again" : ""));
    }
    void end() override {
        log_.push_back(name() + " ends");
        if (throws_in == "end") throw std::runtime_error("disk full");
    }
    std::string throws_in;

  protected:
    Log& log_;
};

struct Source : Told {
    explicit Source(Log& log) : Told("source", log) {}
    Out<int> y = out<int>("y");
    Task make = task("make", &Source::run);
    void run(Frame f) {
        if (throws_in == "frame") throw std::runtime_error("broken");
        f[y][0] = 1;
    }
};

/// Passes each second frame.
struct Half : Told {
    explicit Half(Log& log) : Told("half", log) {}
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task thin = task("thin", &Half::run, may_skip);
    Flow run(Frame f) {
        f[y][0] = f[x][0];
        return f.number() % 2 == 0 ? Flow::ok : Flow::skip;
    }
};

struct Sink : Told {
    explicit Sink(Log& log) : Told("sink", log) {}
    In<int> x = in<int>("x");
    Task note = task("note", &Sink::run);
    void run(Frame) {
        if (log_.back() != "frames") log_.push_back("frames");
    }
};

struct Program {
    Program() { graph.chain(source, half, sink); }
    Log log;
    Graph graph;
    Source& source = graph.add<Source>(log);
    Half& half = graph.add<Half>(log);
    Sink& sink = graph.add<Sink>(log);
};

const Log kRun{"source begins at 0", "half begins at 0", "sink begins at 0", "frames",
               "sink ends",          "half ends",        "source ends"};
const Log kOn{"source begins at 10 again",
              "half begins at 10 again",
              "sink begins at 5 again",
              "frames",
              "sink ends",
              "half ends",
              "source ends"};

template <class Executor>
void check_lives(Program& program, Executor executor) {
    executor.run({.frames = 10});
    CHECK(program.log == kRun);
    program.log.clear();
    executor.resume({.frames = 10});
    CHECK(program.log == kOn);
}

}  // namespace

TEST_CASE("modules are told of a run before its first frame and behind its last, under every executor") {
    Program in_order;
    check_lives(in_order, Sequence(in_order.graph));
    Program staged;
    check_lives(staged, Pipeline(staged.graph, thread_per_task(staged.graph)));
    Program dynamic;
    check_lives(dynamic, Dynamic(dynamic.graph));
}

TEST_CASE("a module that throws in begin() ends the run before a frame, and those before it are closed") {
    Program program;
    program.half.throws_in = "begin";
    Sequence sequence(program.graph);
    CHECK_THROWS_WITH_AS(sequence.run({.frames = 10}), "module 'half' failed in begin(): no radio",
                         ModuleError);
    CHECK(program.log == Log{"source begins at 0", "source ends"});
    program.log.clear();
    program.half.throws_in = "";
    sequence.run({.frames = 10});
    CHECK(program.log == kRun);
}

TEST_CASE("a module that throws in end() is told, and the others are closed") {
    Program program;
    program.half.throws_in = program.source.throws_in = "end";
    CHECK_THROWS_WITH_AS(Sequence(program.graph).run({.frames = 10}),
                         "module 'half' failed in end(): disk full", ModuleError);
    CHECK(program.log == kRun);
}

TEST_CASE("a run that fails is told to modules, too, and its own failure to the caller") {
    Program program;
    program.source.throws_in = "frame";
    program.sink.throws_in = "end";
    CHECK_THROWS_AS(Sequence(program.graph).run({.frames = 10}), FrameError);
    CHECK(program.log == Log{"source begins at 0", "half begins at 0", "sink begins at 0", "sink ends",
                             "half ends", "source ends"});
}
