#include "tidemill/tuning/adapt/adapted_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/testing/two_cores.hpp"
#include "tidemill/tuning/graph_run.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

namespace tidemill {
namespace {

using internal::two_cores;

/// Times of two tasks that wait instead of computing, in microseconds.
struct Waits {
    int a;  // which has state
    int b;
};

/// count -> a -> b -> last, where waits are others from a frame on. The output shows a's state.
struct WaitingTasks {
    using AtFrame = std::function<Flow(int)>;

    WaitingTasks(Waits first, Waits later, int turn, AtFrame at_frame) {
        auto& source =
            graph.add(task("count", out<int>("x"), [n = 0, at_frame = std::move(at_frame)](auto x) mutable {
                x[0] = n;
                return at_frame(n++);
            }));
        const auto wait = [](int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); };
        auto& a = graph.add(task("a", sequential, forward<int>("x"), [=, state = 7](auto x) mutable {
            wait(x[0] < turn ? first.a : later.a);
            x[0] = 1024 * x[0] + (state = 31 * state % 1009);
        }));
        auto& b = graph.add(task("b", pure, forward<int>("x"), [=](auto x) {
            wait(x[0] / 1024 < turn ? first.b : later.b);
            ++x[0];
        }));
        auto& last = graph.add(task("last", in<int>("x"), [this](auto x) { arrived.push_back(x[0]); }));
        graph.bind(source["x"], a["x"]);
        graph.bind(a["x"], b["x"]);
        graph.bind(b["x"], last["x"]);
    }

    Graph graph;
    std::vector<int> arrived;
};

/// Profile of such tasks.
Profile profile_of(const Waits& waits) {
    Profile profile;
    profile.kinds = {"big"};
    profile.cores = Platform{.big = 2};
    profile.tasks = {{"count.count", false, {1}},
                     {"a.a", false, {static_cast<double>(waits.a)}},
                     {"b.b", true, {static_cast<double>(waits.b)}},
                     {"last.last", false, {1}}};
    return profile;
}

RunConfig adapting() {
    RunConfig how{.adapt = true, .pinned = false};
    how.scheduling.cores = Platform{.big = 2};
    return how;
}

/// Output of so many frames in order.
std::vector<int> expected(std::size_t frames) {
    WaitingTasks chain({0, 0}, {0, 0}, 0, [frames](int frame) {
        return static_cast<std::size_t>(frame) == frames ? Flow::stop : Flow::ok;
    });
    Sequence(chain.graph).run({});
    return chain.arrived;
}

// Two equal stages, which dynamic workers cannot beat; and work of which stages leave a core idle for two
// thirds of the time, as none shares a task with another. A machine that is late with each task changes
// little about that.
constexpr Waits kEqual{2000, 2000};
constexpr Waits kUnequal{1000, 3000};
const Schedule kTwoStages{.stages = {{0, 2, 1, "big"}, {2, 2, 1, "big"}}};

/// Whether the executor was changed, not only the schedule.
bool is_of_executor(const AdaptationChange& change) {
    return !change.to.empty();
}

}  // namespace

TEST_CASE("adapted run: another executor that has become faster goes on, and no frame is lost") {
    AdaptedRun* asked = nullptr;
    int left = 60;
    WaitingTasks chain(kEqual, kUnequal, 40, [&](int frame) {
        const bool has_changed = std::ranges::any_of(asked->changes(), is_of_executor);
        if (frame % 100 == 0 && frame > 100 && !has_changed) asked->look();
        return has_changed && --left == 0 ? Flow::stop : Flow::ok;
    });
    AdaptedRun run(chain.graph, adapting(), two_cores(), profile_of(kEqual), kTwoStages);
    asked = &run;
    const RunReport report = run.run({.frames = 5000});
    CHECK(report.delivered == report.frames);
    CHECK(chain.arrived == expected(report.frames));
    REQUIRE_FALSE(run.changes().empty());
    const AdaptationChange& change = run.changes().back();
    CHECK(change.from == "pipeline of 2 stages");
    CHECK(change.to == "dynamic (gpriority)");
    CHECK(change.frame > 200);
    CHECK(change.frame < report.frames);
    CHECK(change.after_us < change.before_us);
    CHECK(run.way().executor == ExecutorKind::dynamic);
}

TEST_CASE("adapted run: a stop during a trial ends it between two frames, with all that began") {
    std::stop_source stop;
    AdaptedRun* asked = nullptr;
    int since = 0;
    WaitingTasks chain(kUnequal, kUnequal, 0, [&](int frame) {
        if (frame == 99) CHECK(asked->look());
        if (frame > 99 && ++since == 10) stop.request_stop();
        return Flow::ok;
    });
    AdaptedRun run(chain.graph, adapting(), two_cores(), profile_of(kUnequal), kTwoStages);
    asked = &run;
    const RunReport report = run.run({.stop = stop.get_token()});
    CHECK(report.frames < 200);
    CHECK(report.delivered == report.frames);
    CHECK(chain.arrived == expected(report.frames));
    CHECK(run.way().executor == ExecutorKind::pipeline);
}

TEST_CASE("adapted run: a change of schedule goes by forecast, without a trial") {
    AdaptedRun* asked = nullptr;
    std::vector<std::size_t> stages;
    WaitingTasks chain(kEqual, kEqual, 0, [&](int frame) {
        if (frame % 50 == 49 && asked->changes().empty()) asked->look();
        return frame == 80 ? Flow::stop : Flow::ok;
    });
    const Schedule bad{.stages = {{0, 3, 1, "big"}, {3, 1, 1, "big"}}};
    AdaptedRun run(chain.graph, adapting(), two_cores(), profile_of(kEqual), bad);
    asked = &run;
    const RunReport report =
        run.run({}, [&](const Schedule& schedule) { stages.push_back(schedule.stages.front().task_count); });
    CHECK(chain.arrived == expected(80));
    REQUIRE(run.changes().size() == 1);
    CHECK(run.changes().front().to.empty());
    CHECK(report.bubbles_us.size() == 1);
    CHECK(stages == std::vector<std::size_t>{3, 2});
}

TEST_CASE("adapted run: what cannot run the graph is told once, and the stream goes on as it was") {
    AdaptedRun* asked = nullptr;
    WaitingTasks chain(kUnequal, kUnequal, 0, [&](int frame) {
        if (frame % 30 == 29) asked->look();
        return frame == 100 ? Flow::stop : Flow::ok;
    });
    RunConfig how = adapting();
    how.window.iterations = 0;  // no room for a frame
    AdaptedRun run(chain.graph, how, two_cores(), profile_of(kUnequal), kTwoStages);
    asked = &run;
    run.run({});
    CHECK(chain.arrived == expected(100));
    REQUIRE(run.warnings().size() == 1);
    CHECK(run.warnings().front().find("dynamic (gpriority) was not tried: ") == 0);
    CHECK(std::ranges::none_of(run.changes(), is_of_executor));
}

TEST_CASE("adapted run: only what is to be fast and nothing else may change its executor") {
    const Profile profile = profile_of(kEqual);
    const auto may = [&](const RunConfig& how, const RunOptions& options = {}) {
        return may_change_executor(how, profile, kTwoStages, options);
    };
    CHECK(may(adapting()));
    CHECK_FALSE(may({.batch = 2}));
    CHECK_FALSE(may({.latency_us = 5}));
    CHECK_FALSE(may(adapting(), {.late = Late::drop_newest}));
    Profile two_kinds = profile;
    two_kinds.kinds.emplace_back("little");
    CHECK_FALSE(may_change_executor(adapting(), two_kinds, kTwoStages, {}));
}

}  // namespace tidemill
