#include "tidemill/tuning/choose/run_candidates.hpp"

#include <algorithm>

#include <doctest/doctest.h>

namespace tidemill::internal {
namespace {

/// Ways for sequential tasks on so many cores of one kind, in clusters or not.
RunCandidates ways_of(const std::vector<double>& weights_us, int cores = 2,
                      const std::vector<FarCuts>& far_cuts = {}) {
    Profile profile;
    profile.kinds = {"big"};
    profile.cores = Platform{.big = cores};
    Schedule thread_per_task;
    for (const double us : weights_us) {
        thread_per_task.stages.push_back({profile.tasks.size(), 1, 1, "big"});
        profile.tasks.push_back({"t" + std::to_string(profile.tasks.size()), false, {us}});
    }
    RunConfig how;
    how.scheduling.cores = profile.cores;
    how.scheduling.model.far_cuts = far_cuts;
    return run_candidates(profile, how, thread_per_task);
}

bool has(const RunCandidates& found, const std::string& name) {
    return std::ranges::any_of(found.ways, [&](const RunCandidate& each) { return each.way.name() == name; });
}

}  // namespace

TEST_CASE("ways: one core promises nothing, so the stream stays in order") {
    const RunCandidates found = ways_of({30, 30}, 1);
    REQUIRE(found.ways.size() == 1);
    CHECK(found.ways[0].way.executor == ExecutorKind::sequence);
    CHECK(found.in_order_us == 60);
    CHECK(found.bound_us == 60);
}

TEST_CASE("ways: two equal tasks make a pipeline, and what is far slower is left out") {
    const RunCandidates found = ways_of({300, 300});
    CHECK(found.bound_us == 300);
    CHECK(found.ways.front().way.name() == "pipeline of 2 stages");
    CHECK_FALSE(has(found, "in order"));
    CHECK(has(found, "dynamic (gpriority)"));
}

TEST_CASE("ways: threads that own several stages are promised where stages leave a core idle") {
    const RunCandidates found = ways_of({60, 100, 40});
    CHECK(has(found, "pipeline of 3 stages on 2 threads"));
    for (const RunCandidate& each : found.ways) CHECK(each.forecast_us >= found.bound_us);
}

TEST_CASE("ways: far cuts are in the forecasts, and cores beyond one cluster are used where they pay") {
    const auto pipeline_where = [](double far_us) {
        const RunCandidates found = ways_of({100, 100, 5, 5}, 4, {{"big", {{0, 1}, {2, 3}}, far_us, 0}});
        return *std::ranges::find(found.ways, ExecutorKind::pipeline,
                                  [](const RunCandidate& each) { return each.way.executor; });
    };
    CHECK(pipeline_where(3).way.schedule->thread_count() == 3);
    CHECK(pipeline_where(3).forecast_us == doctest::Approx(100 + 2 * kUsualHandOverUs + 3));
    CHECK(pipeline_where(15).way.schedule->thread_count() == 2);
    CHECK(pipeline_where(15).forecast_us == doctest::Approx(110 + kUsualHandOverUs));
    CHECK(pipeline_where(15).way.schedule->resources.size() == 1);
}

TEST_CASE("ways: tasks that are shorter than a hand-over stay in order") {
    const RunCandidates found = ways_of({0.01, 0.01, 0.01});
    REQUIRE(found.ways.size() == 1);
    CHECK(found.ways[0].way.executor == ExecutorKind::sequence);
}

}  // namespace tidemill::internal
