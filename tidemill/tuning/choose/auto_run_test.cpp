#include "tidemill/tuning/choose/auto_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "tidemill/machine/thread_time.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/counted_sum.hpp"
#include "tidemill/runtime/testing/two_cores.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/testing/quiet_machine.hpp"
#include "tidemill/testing/scratch_folder.hpp"
#include "tidemill/tuning/choose/choice_file.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill {
namespace {

using internal::two_cores;

/// A source that ends when asked to, tasks that wait so long, and a check that all comes in order. What waits
/// needs no core, so two threads are faster on any machine.
struct Waits {
    Waits(std::function<bool(int)> is_over, std::initializer_list<int> waits_us) {
        auto& source =
            graph.add(task("count", out<int>("x"), [n = 0, is_over = std::move(is_over)](auto x) mutable {
                x[0] = n;
                return is_over(n++) ? Flow::stop : Flow::ok;
            }));
        auto& last = graph.add(task("last", in<int>("x"), [this](auto x) { in_order &= x[0] == arrived++; }));
        Module* before = &source;
        for (const int us : waits_us) {
            const auto wait = [us](auto) { std::this_thread::sleep_for(std::chrono::microseconds(us)); };
            const std::string name = fmt::format("wait{}", graph.size());
            auto& waiting = graph.add(task(name, sequential, forward<int>("x"), wait));
            graph.bind((*before)["x"], waiting["x"]);
            before = &waiting;
        }
        graph.bind((*before)["x"], last["x"]);
    }

    Graph graph;
    int arrived = 0;
    bool in_order = true;
};

struct TwoWaits : Waits {
    explicit TwoWaits(std::function<bool(int)> is_over, int us = 300) : Waits(std::move(is_over), {us, us}) {}
};

std::function<bool(int)> after(int frames) {
    return [frames](int frame) { return frame == frames; };
}

/// Some frames after a choice was made, whenever that is.
std::function<bool(int)> after_choice(const std::function<bool()>& has_chosen) {
    return [has_chosen, chosen = 0](int) mutable { return has_chosen() && ++chosen > 40; };
}

const RunConfig kAuto{.executor = ExecutorKind::automatic, .pinned = false};

}  // namespace

TEST_CASE("auto: a short stream is done in order before anything is tried") {
    TwoWaits waiting(after(10), 1);
    AutoRun run(waiting.graph, kAuto, two_cores());
    CHECK(run.run({}).delivered == 10);
    CHECK(waiting.in_order);
    CHECK_FALSE(run.has_chosen());
}

TEST_CASE("auto: what could be faster takes turns on the stream, the best goes on, and no frame is lost") {
    AutoRun* asked = nullptr;
    TwoWaits waiting(after_choice([&] { return asked->has_chosen(); }));
    AutoRun run(waiting.graph, kAuto, two_cores());
    asked = &run;
    const RunReport report = run.run({});
    CHECK(report.delivered == report.frames);
    CHECK(static_cast<std::uint64_t>(waiting.arrived) == report.frames);
    CHECK(waiting.in_order);
    REQUIRE(run.has_chosen());
    REQUIRE(run.choice().tried.size() > 1);
    CHECK(run.choice().tried.front().name == run.choice().way.name());
    for (const Choice::Tried& tried : run.choice().tried)
        if (testing::is_quiet()) CHECK(run.choice().tried.front().period_us <= 1.03 * tried.period_us);
    REQUIRE(run.profile());
    CHECK(run.profile()->tasks.size() == 4);
    CHECK(run.choice().bound_us > 300);
    CHECK(run.choice().line().find("; bound ") != std::string::npos);
}

TEST_CASE("auto: a stream that ends in a trial says what ran then, and chose nothing") {
    bool in_trial = false;
    TwoWaits waiting([&, more = 0](int) mutable { return in_trial && ++more > 5; });
    GraphRun run(kAuto, two_cores());
    const RunReport report =
        run.go(waiting.graph, {}, [&](const Schedule& schedule) { in_trial |= schedule.stages.size() > 1; });
    CHECK(waiting.in_order);
    CHECK_FALSE(run.choice());
    CHECK(run.executor() != ExecutorKind::sequence);
    CHECK(report.stages.size() > 1);
}

TEST_CASE("auto: threads that own several stages are a way like any other") {
    Waits waiting(after(200), {60, 100, 40});
    AutoRun run(waiting.graph, kAuto, two_cores());
    Schedule schedule{.stages = {{0, 2, 1, "big"}, {2, 1, 1, "big"}, {3, 2, 1, "big"}}};
    schedule.stages[0].owners = schedule.stages[2].owners = {1};
    run.start_with({.way = {.executor = ExecutorKind::pipeline, .schedule = schedule}});
    CHECK(run.run({}).delivered == 200);
    CHECK(waiting.in_order);
    CHECK(run.last_way().name() == "pipeline of 3 stages on 2 threads");
}

TEST_CASE("auto: one core leaves nothing to try, and the stream stays in order") {
    AutoRun* asked = nullptr;
    TwoWaits waiting(after_choice([&] { return asked->has_chosen(); }));
    RunConfig how = kAuto;
    how.scheduling.cores = Platform{.big = 1};
    AutoRun run(waiting.graph, how, two_cores());
    asked = &run;
    run.run({});
    CHECK(waiting.in_order);
    REQUIRE(run.has_chosen());
    CHECK(run.choice().way.executor == ExecutorKind::sequence);
    CHECK(run.choice().tried.empty());
}

TEST_CASE("auto: nothing is weighed before the stream is steady") {
    TwoWaits waiting(after(100), 100);
    AutoRun run(waiting.graph, kAuto, two_cores(), [] { return false; });
    CHECK(run.run({}).delivered == 100);
    CHECK_FALSE(run.has_chosen());
}

TEST_CASE("auto: a source that a clock paces stays in order, where that keeps up") {
    Graph graph;
    auto& source = graph.add(task("clock", out<int>("x"), [n = 0](auto x) mutable {
        x[0] = n++;
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        return n > 300 ? Flow::stop : Flow::ok;
    }));
    auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
    graph.bind(source["x"], sink["x"]);
    AutoRun run(graph, kAuto, two_cores());
    run.run({});
    REQUIRE(run.has_chosen());
    CHECK(run.choice().way.executor == ExecutorKind::sequence);
}

namespace {

/// A source whose frames are due one after the other, and two tasks that work between them.
struct Paced {
    explicit Paced(std::function<bool(int)> is_over) {
        using Clock = std::chrono::steady_clock;
        auto& source =
            graph.add(task("clock", out<int>("x"),
                           [n = 0, next = Clock::now(), is_over = std::move(is_over)](auto x) mutable {
                               next = std::max(next, Clock::now() - kPeriod) + kPeriod;
                               std::this_thread::sleep_until(next);
                               x[0] = n;
                               return is_over(n++) ? Flow::stop : Flow::ok;
                           }));
        Module* before = &source;
        for (const char* const name : {"first", "second"}) {
            auto& works = graph.add(task(name, sequential, forward<int>("x"), [](auto) {
                const std::int64_t end_ns = thread_run_ns() + 1000 * kWorkUs;
                while (thread_run_ns() < end_ns) {
                }
            }));
            graph.bind((*before)["x"], works["x"]);
            before = &works;
        }
        auto& last = graph.add(task("last", in<int>("x"), [this](auto x) { in_order &= x[0] == arrived++; }));
        graph.bind((*before)["x"], last["x"]);
    }

    static constexpr std::chrono::milliseconds kPeriod{2};
    static constexpr int kWorkUs = 150;

    Graph graph;
    int arrived = 0;
    bool in_order = true;
};

}  // namespace

TEST_CASE("auto: where the source sets the pace, ways are compared by their busiest threads") {
    AutoRun* asked = nullptr;
    Paced paced(after_choice([&] { return asked->has_chosen(); }));
    AutoRun run(paced.graph, kAuto, two_cores());
    asked = &run;
    const RunReport report = run.run({});
    CHECK(paced.in_order);
    CHECK(report.delivered == report.frames);
    REQUIRE(run.has_chosen());
    const Choice& choice = run.choice();
    CHECK(choice.source_sets_pace());
    CHECK(choice.line().find(", the source sets the pace: ") != std::string::npos);
    REQUIRE(choice.tried.size() > 1);
    CHECK(choice.tried.front().name == choice.way.name());
    for (const Choice::Tried& tried : choice.tried) {
        CHECK(tried.busiest_us >= Paced::kWorkUs);
        if (tried.name == "in order") CHECK(tried.busiest_us >= 2 * Paced::kWorkUs);
    }
}

TEST_CASE("auto: a trial that is cut before its first frame says nothing, and is had again") {
    TwoWaits waiting(after(1));
    const auto in_order =
        WayRunners(waiting.graph, structure_of(waiting.graph), kAuto, two_cores()).in_order();
    StreamTrials trials(waiting.graph, {{{{}, 600}, in_order}, {{{}, 300}, in_order}}, 600);
    REQUIRE(trials.next());
    Relay::Done done{.elapsed_s = 10};
    trials.tell(done);
    CHECK(trials.tried().empty());
    REQUIRE(trials.next());
    CHECK(trials.current().forecast_us == 600);
    done.report.frames = 24;
    trials.tell(done);
    CHECK(trials.tried().size() == 1);
    REQUIRE(trials.next());
    CHECK(trials.current().forecast_us == 300);
}

TEST_CASE("auto: the next start goes on with what was chosen, unless it is to be fresh or nothing fits") {
    const ScratchFolder folder;
    const Topology& topology = two_cores();
    RunConfig how = kAuto;
    how.scheduling.cores = Platform{.big = 1};
    how.choices = folder / "sub/choices.json";
    const auto remembered = [&](const RunConfig& wanted, std::vector<std::string>* warnings = nullptr) {
        TwoWaits waiting(after(300));  // longer than it takes to weigh
        GraphRun run(wanted, topology);
        run.prepare([](const ProfileOptions&) -> Profile { throw RunError("nothing is profiled ahead"); });
        CHECK(run.go(waiting.graph).delivered == 300);
        CHECK(waiting.in_order);
        if (warnings) *warnings = run.warnings();
        return run.choice() && run.choice()->is_remembered;
    };
    CHECK_FALSE(remembered(how));
    CHECK(remembered(how));
    RunConfig fresh = how;
    fresh.fresh = true;
    CHECK_FALSE(remembered(fresh));
    RunConfig two = how;
    two.scheduling.cores = Platform{.big = 2};
    CHECK_FALSE(remembered(two));
    std::filesystem::remove(how.choices);
    REQUIRE(mkfifo(how.choices.c_str(), 0600) == 0);  // which would keep its reader waiting
    std::vector<std::string> told;
    CHECK_FALSE(remembered(how, &told));
    REQUIRE(told.size() == 2);
    CHECK(told[0].find("is no file") != std::string::npos);
    std::filesystem::remove(how.choices);
    std::ofstream(how.choices) << "{\"version\": 1, \"choices\": [{}]}";
    std::vector<std::string> warnings;
    CHECK_FALSE(remembered(how, &warnings));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("choices[0]") != std::string::npos);
    CHECK(remembered(how));
}

TEST_CASE("auto: a choice of threads that are no thread per task of this graph is not followed") {
    TwoWaits waiting(after(3));
    AutoRun run(waiting.graph, kAuto, two_cores());
    Choice choice{.way = {.executor = ExecutorKind::threads, .schedule = thread_per_task(waiting.graph)}};
    CHECK_NOTHROW(run.start_with(choice));
    choice.way.schedule->stages[1].threads = 100'000;
    CHECK_THROWS_AS(run.start_with(choice), RunError);
}

TEST_CASE("auto: wishes that only pipelines or dynamic workers fulfil are theirs") {
    CHECK(resolved({.executor = ExecutorKind::automatic}) == ExecutorKind::automatic);
    CHECK(resolved({.executor = ExecutorKind::automatic, .adapt = true}) == ExecutorKind::pipeline);
    CHECK(resolved({.executor = ExecutorKind::automatic, .latency_us = 5}) == ExecutorKind::pipeline);
    CHECK(resolved({.executor = ExecutorKind::automatic, .remember = "x"}) == ExecutorKind::dynamic);
    CHECK(resolved({.executor = ExecutorKind::sequence}) == ExecutorKind::sequence);
}

}  // namespace tidemill
