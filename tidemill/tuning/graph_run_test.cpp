#include "tidemill/tuning/graph_run.hpp"

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/testing/counted_sum.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {
namespace {

using internal::Count;
using internal::Sum;

/// Adds up 0, 1, ... 999.
struct Adder {
    Graph graph;
    Sum& sum;
    Adder() : sum(graph.add<Sum>()) { graph.bind(graph.add<Count>(1000).value, sum.value); }
};

Profile profile_of(const ProfileOptions& how) {
    Adder adder;
    return profile(adder.graph, how);
}

/// All on one thread of the first kind of cores.
Schedule one_stage() {
    return {.stages = {{.first_task = 0, .task_count = 2, .core_kind = Topology::here().kinds[0].name}}};
}

/// Total of a run as it is asked for.
long total_of(const RunConfig& how) {
    const Topology topology = Topology::here();
    GraphRun run(how, topology);
    run.prepare(profile_of);
    Adder adder;
    run.go(adder.graph);
    return adder.sum.total;
}

/// A front of 20 us, a decoder of 100 that a device does in batches, a sink.
Profile profile_with_device(const ProfileOptions&) {
    Profile profile;
    profile.kinds = {Topology::here().kinds[0].name, "gpu"};
    profile.tasks = {
        {"front", false, {20, kCannotRun}}, {"decode", false, {100, 0}}, {"sink", false, {5, kCannotRun}}};
    profile.tasks[1].batches = {{.kind = "gpu", .batch_us = 320, .frame_us = 10, .most_frames = 64}};
    profile.tasks[1].weight_us[1] = profile.tasks[1].batches[0].weight_us(64);
    profile.cores.set(profile.kinds[0], 2);
    return profile;
}

/// Under a limit of latency, 0: none.
GraphRun with_device(double latency_us) {
    const Topology topology = Topology::here();
    RunConfig how;
    how.scheduling.cores = Platform{};
    how.scheduling.cores->set(topology.kinds[0].name, 2);
    if (latency_us > 0) how.latency_us = latency_us;
    GraphRun run(how, topology);
    run.prepare(profile_with_device);
    return run;
}

}  // namespace

TEST_CASE("a graph run: batches for a device are as small as a wanted latency needs, or the device is left") {
    if (Topology::here().kinds[0].cores.size() < 2) {
        MESSAGE("skipped: a stage on a device parts those before it from those behind it, on two cores");
        return;
    }
    const auto batch_of = [](const GraphRun& run) { return run.schedule()->stages[1].batch.value_or(0); };
    const GraphRun usual = with_device(0);
    REQUIRE(usual.device_decision()->device == "gpu");
    CHECK(batch_of(usual) == 64);  // 15 us a frame are below four fifths of 20; in batches of 32 it takes 20
    const GraphRun less = with_device(4000);
    REQUIRE(less.device_decision()->device == "gpu");
    CHECK(batch_of(less) == 32);  // 5 batches of 32, 3 frames in hand and 2 between: 3300 us
    CHECK(less.device_decision()->why.find("; for 4000 us of latency in batches of ") != std::string::npos);
    const GraphRun none = with_device(300);
    CHECK_FALSE(none.device_decision()->device);
    CHECK(none.device_decision()->why.starts_with("the device is left alone: within 300 us of latency"));
    CHECK(none.predicted_period_us() == 105);
}

TEST_CASE("a graph run: every executor, by any schedule, brings the same") {
    CHECK(total_of({.executor = ExecutorKind::sequence}) == 499500);
    CHECK(total_of({.executor = ExecutorKind::threads}) == 499500);
    CHECK(total_of({.executor = ExecutorKind::dynamic, .policy = "oldest"}) == 499500);
    CHECK(total_of({.profile_s = 0.01}) == 499500);
    CHECK(total_of({.scheduling = {.strategy = &strategy("fertac")}, .profile_s = 0.01, .batch = 16}) ==
          499500);
    CHECK(total_of({.schedule = one_stage()}) == 499500);
}

TEST_CASE("a graph run: a limit of frames ends it, whoever runs it") {
    for (const ExecutorKind executor :
         {ExecutorKind::sequence, ExecutorKind::threads, ExecutorKind::dynamic, ExecutorKind::pipeline}) {
        CAPTURE(static_cast<int>(executor));
        CHECK(total_of({.executor = executor, .profile_s = 0.01, .frames = 10}) == 45);
    }
}

TEST_CASE("a graph run: a profile is made only where a schedule is needed, and is told with its prediction") {
    const Topology topology = Topology::here();
    int profiles = 0;
    const auto count = [&](const ProfileOptions& how) { return ++profiles, profile_of(how); };
    GraphRun in_order({.executor = ExecutorKind::sequence}, topology);
    in_order.prepare(count);
    CHECK(profiles == 0);
    CHECK_FALSE(in_order.predicted_period_us());
    GraphRun scheduled({.profile_s = 0.01}, topology);
    scheduled.prepare(count);
    CHECK(profiles == 1);
    REQUIRE(scheduled.profile());
    CHECK(*scheduled.predicted_period_us() == doctest::Approx(*scheduled.schedule()->period_us));
}

TEST_CASE("a graph run: a pipeline by a profile says how near it came to what the cores could do") {
    const Topology topology = Topology::here();
    const auto report_of = [&](const RunConfig& how) {
        GraphRun run(how, topology);
        run.prepare(profile_of);
        Adder adder;
        return run.go(adder.graph);
    };
    Platform one;
    one.set(topology.kinds[0].name, 1);
    const RunReport scheduled = report_of({.scheduling = {.cores = one}, .profile_s = 0.01});
    REQUIRE(scheduled.best);
    CHECK(scheduled.best->cores == "1 " + topology.kinds[0].name);
    CHECK(scheduled.best->bound_us > 0);
    CHECK(scheduled.best->period_us == scheduled.period_us());
    CHECK(scheduled.best->between.find("is 0.0 % above it by the profile; the cores can do no more work") !=
          std::string::npos);
    CHECK_FALSE(report_of({.executor = ExecutorKind::threads}).best);
    CHECK_FALSE(report_of({.schedule = one_stage()}).best);
}

TEST_CASE("platform here: every core of this machine, each of its kind") {
    const Topology topology = Topology::here();
    const Platform all = platform_here();
    int cores = 0;
    for (const CoreCount& kind : all.kinds()) cores += kind.count;
    CHECK(cores == static_cast<int>(topology.cores.size()));
    for (const CoreKind& kind : topology.kinds) {
        CHECK(all.count(kind.name) == static_cast<int>(kind.cores.size()));
    }
    CHECK(cores_here({}, topology) == all);
}

TEST_CASE("a graph run: wishes that contradict each other, or the machine, are refused") {
    const Topology topology = Topology::here();
    CHECK_THROWS_AS(GraphRun({.executor = ExecutorKind::dynamic, .adapt = true}, topology), RunError);
    CHECK_THROWS_AS(GraphRun({.executor = ExecutorKind::threads, .latency_us = 5}, topology), RunError);
    CHECK_THROWS_AS(GraphRun({.executor = ExecutorKind::sequence, .schedule = Schedule{}}, topology),
                    RunError);
    CHECK_THROWS_AS(GraphRun({.schedule = Schedule{}, .scheduling = {.cores = Platform{.big = 1}}}, topology),
                    RunError);
    GraphRun too_many({.scheduling = {.cores = Platform{.big = 100000}}}, topology);
    CHECK_THROWS_AS(too_many.prepare(profile_of), PlatformError);
    GraphRun not_prepared({}, topology);
    Adder adder;
    CHECK_THROWS_AS(not_prepared.go(adder.graph), RunError);
}

}  // namespace tidemill
