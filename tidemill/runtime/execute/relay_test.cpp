#include "tidemill/runtime/execute/relay.hpp"

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic_engine.hpp"
#include "tidemill/runtime/execute/engine.hpp"
#include "tidemill/runtime/execute/pipeline_cut.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"
#include "tidemill/runtime/testing/counted_sum.hpp"
#include "tidemill/runtime/testing/random_runs.hpp"

namespace tidemill {
namespace {

using internal::Count;
using internal::Sum;

/// Legs of few frames: in order, stages, dynamic workers, and so on.
class InTurns {
  public:
    InTurns(Graph& graph, const std::vector<Schedule>& schedules, std::uint64_t frames)
        : relay_(graph), knobs_(KnobBook::of(graph)), frames_(frames) {
        runners_.push_back(std::make_shared<Engine>(graph, cut_in_order(relay_.structure())));
        for (const Schedule& schedule : schedules)
            runners_.push_back(
                std::make_shared<Engine>(graph, cut_of(graph, schedule, {.waiting = WaitMode::mixed})));
        runners_.push_back(std::make_shared<DynamicEngine>(graph, DynamicOptions{.workers = 2}));
    }

    template <class... Settings>
    SetAt set(const Settings&... settings) {
        return knobs_->set(KnobSettings(settings...));
    }

    RunReport run(const RunOptions& options) {
        return relay_.run(options, [this](const Relay::Done*) {
            return Relay::Leg{.runner = runners_[legs_++ % runners_.size()], .frames = frames_};
        });
    }

    std::size_t legs() const { return legs_; }

  private:
    Relay relay_;
    std::shared_ptr<KnobBook> knobs_;
    std::uint64_t frames_;
    std::vector<std::shared_ptr<StretchRunner>> runners_;
    std::size_t legs_ = 0;
};

/// The same, where it is handed over.
class MovedInTurns {
  public:
    MovedInTurns(Graph& graph, const std::vector<Schedule>& schedules, std::uint64_t frames)
        : turns_(std::make_unique<InTurns>(graph, schedules, frames)) {}

    template <class... Settings>
    SetAt set(const Settings&... settings) {
        return turns_->set(settings...);
    }
    RunReport run(const RunOptions& options) { return turns_->run(options); }

  private:
    std::unique_ptr<InTurns> turns_;
};

}  // namespace

TEST_CASE("relay: executors that relieve each other lose no frame and keep all in order") {
    Graph graph;
    auto& source = graph.add<Count>(100);
    int arrived = 0;
    bool in_order = true;
    auto& twice = graph.add(task("twice", pure, forward<int>("x"), [](auto x) { x[0] *= 2; }));
    auto& last = graph.add(task("last", in<int>("x"), [&](auto x) { in_order &= x[0] == 2 * arrived++; }));
    graph.bind(source.value, twice["x"]);
    graph.bind(twice["x"], last["x"]);
    const Schedule stages{.stages = {{0, 1, 1, "big"}, {1, 1, 2, "big"}, {2, 1, 1, "big"}}};
    InTurns turns(graph, {stages}, 7);
    const RunReport report = turns.run({});
    CHECK(turns.legs() == 15);
    CHECK(report.frames == 100);
    CHECK(report.delivered == 100);
    CHECK(arrived == 100);
    CHECK(in_order);
    REQUIRE(report.tasks.size() == 3);
    CHECK(report.tasks[1].calls.count == 100);
}

TEST_CASE("relay: random programs mean the same, whoever runs which stretch of them") {
    for (std::uint64_t seed = 1; seed <= internal::random_programs(40); ++seed) {
        INFO("seed ", seed);
        const internal::RandomProgram program = internal::RandomProgramMaker(seed).make();
        std::mt19937_64 random(seed);
        const std::vector<Schedule> schedules{internal::random_schedule(program, random),
                                              internal::random_schedule(program, random)};
        const std::uint64_t frames = 1 + random() % 5;
        const auto make = [&](Graph& graph) { return MovedInTurns(graph, schedules, frames); };
        internal::check_same(internal::run_under(program, make), internal::RandomInterpreter(program).run(),
                             internal::Ahead::all);
    }
}

TEST_CASE("relay: a leg ends when it says so, or when anybody relieves it") {
    Graph graph;
    auto& source = graph.add<Count>(1000);
    auto& sum = graph.add<Sum>();
    graph.chain(source, sum);
    Relay relay(graph);
    const auto in_order = std::make_shared<Engine>(graph, cut_in_order(relay.structure()));
    std::vector<std::uint64_t> frames_of_legs;
    int asked = 0;
    const RunReport report = relay.run({}, [&](const Relay::Done* before) {
        if (before) frames_of_legs.push_back(before->report.frames);
        const bool is_first = !before;
        return Relay::Leg{.runner = in_order, .is_over = [&, is_first] { return is_first && ++asked == 10; }};
    });
    CHECK(report.frames == 1000);
    CHECK(sum.total == 499500);
    REQUIRE(frames_of_legs.size() == 1);
    CHECK(frames_of_legs.front() <= 10);
    CHECK(relay.last().report.frames == 1000 - frames_of_legs.front());
}

TEST_CASE("relay: a limit of frames and a wish to stop hold for all legs together") {
    Graph graph;
    auto& source = graph.add<Count>(1000);
    auto& sum = graph.add<Sum>();
    graph.chain(source, sum);
    InTurns limited(graph, {}, 4);
    CHECK(limited.run({.frames = 10}).frames == 10);
    CHECK(sum.total == 45);
    CHECK(limited.legs() == 3);
    int asked = 0;
    InTurns stopped(graph, {}, 4);
    const RunReport report = stopped.run({.stop_when = [&] { return ++asked > 6; }});
    CHECK(report.frames <= 6);
    CHECK(report.delivered == report.frames);
}

TEST_CASE("relay: what a task throws comes out, whichever leg it was") {
    Graph graph;
    auto& source = graph.add<Count>(1000);
    auto& fails = graph.add(task("fails", in<int>("x"), [](auto x) {
        if (x[0] == 42) throw std::runtime_error("42");
    }));
    graph.bind(source.value, fails["x"]);
    InTurns turns(graph, {}, 5);
    CHECK_THROWS_AS(turns.run({}), FrameError);
    CHECK(turns.legs() == 9);
}

}  // namespace tidemill
