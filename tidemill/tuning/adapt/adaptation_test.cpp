#include "tidemill/tuning/adapt/adaptation.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/tuning/profile/live_profile.hpp"

using namespace tidemill;
using doctest::Approx;

namespace {

// Waits instead of computing: three threads keep their pace on any number of cores.
void wait_us(int time_us) {
    std::this_thread::sleep_for(std::chrono::microseconds(time_us));
}

/// count -> first -> second, of which `second` becomes eight times as slow with frame `turn`.
struct TurningChain {
    static constexpr int kTurn = 60;

    explicit TurningChain(std::function<void(int)> at_frame) {
        auto& count = graph.add(
            task("count", out<int>("n"), [n = 0, at_frame = std::move(at_frame)](auto number) mutable {
                number[0] = n;
                at_frame(n++);
                wait_us(50);
            }));
        auto& first = graph.add(task("first", pure, forward<int>("n"), [](auto) { wait_us(1000); }));
        auto& second = graph.add(task("second", pure, forward<int>("n"),
                                      [](auto number) { wait_us(number[0] < kTurn ? 500 : 4000); }));
        auto& last = graph.add(
            task("last", in<int>("n"), [this](auto number) { in_order &= number[0] == arrived++; }));
        graph.bind(count["n"], first["n"]);
        graph.bind(first["n"], second["n"]);
        graph.bind(second["n"], last["n"]);
    }

    Graph graph;
    int arrived = 0;
    bool in_order = true;
};

int threads_of_second(const Schedule& schedule) {
    constexpr std::size_t kSecond = 2;
    for (const Stage& stage : schedule.stages)
        if (stage.first_task + stage.task_count > kSecond) return stage.threads;
    return 0;
}

Profile profile_of_beginning() {
    Profile profile;
    profile.kinds = {"big", "little"};
    profile.tasks = {{"count.count", false, {50, 100}},
                     {"first.first", true, {1000, 2000}},
                     {"second.second", true, {500, 1500}},
                     {"last.last", false, {1, 1}}};
    return profile;
}

}  // namespace

TEST_CASE(
    "weights seen on one kind change those on the others alike, and units that did not run keep theirs") {
    const Schedule schedule{.stages = {{0, 2, 1, "little"}, {2, 2, 1, "big"}}};
    RanOnKinds on_kinds;
    const Profile seen = updated(profile_of_beginning(), schedule, {100, {200, 1000, 0, 3}}, on_kinds);
    CHECK(seen.tasks[0].weight_us == std::vector<double>{100, 200});
    CHECK(seen.tasks[1].weight_us == std::vector<double>{500, 1000});
    CHECK(seen.tasks[2].weight_us == std::vector<double>{500, 1500});
    CHECK(seen.tasks[3].weight_us == std::vector<double>{3, 3});
    Profile unknown = profile_of_beginning();
    unknown.tasks[3].weight_us = {0, 0};
    CHECK(updated(unknown, schedule, {100, {0, 0, 0, 3}}, on_kinds).tasks[3].weight_us ==
          std::vector<double>{3, 3});
}

TEST_CASE(
    "what a unit takes on another kind is that kind's own weight, and a change there is one everywhere") {
    const Schedule little{.stages = {{0, 4, 1, "little"}}};
    const Schedule big{.stages = {{0, 4, 1, "big"}}};
    RanOnKinds on_kinds;
    Profile seen = updated(profile_of_beginning(), little, {100, {200, 0, 0, 0}}, on_kinds);
    seen = updated(seen, big, {100, {50, 0, 0, 0}}, on_kinds);
    CHECK(seen.tasks[0].weight_us == std::vector<double>{50, 200});
    seen = updated(seen, big, {100, {100, 0, 0, 0}}, on_kinds);
    CHECK(seen.tasks[0].weight_us == std::vector<double>{100, 400});
}

TEST_CASE("in a mixed stage all weights of a unit change by what its threads take together") {
    Stage mixed{.first_task = 1, .task_count = 1, .threads = 2, .core_kind = ""};
    mixed.word = CyclicWord{{"big", "little"}, {0, 1, 0}};
    const Schedule schedule{.stages = {{0, 1, 1, "big"}, mixed, {2, 2, 1, "big"}}};
    RanOnKinds on_kinds;
    // (2 * 1000 + 2000) / 3 by the profile, one and a half times that by the clock
    const Profile seen = updated(profile_of_beginning(), schedule, {100, {50, 2000, 500, 1}}, on_kinds);
    CHECK(seen.tasks[1].weight_us == std::vector<double>{1500, 3000});
    CHECK(on_kinds[1] == std::vector<bool>{false, false});
}

TEST_CASE("a better schedule is placed in the clusters that there are, or keeps the cores that were named") {
    Profile profile;
    profile.kinds = {"big"};
    profile.tasks = {{"a", false, {10}}, {"b", false, {10}}, {"c", false, {30}}};
    const CoreResource named{"big", {{NodeRange::Unit::kCore, 0, 3}}, 1, {}};
    const Schedule now{.stages = {{0, 3, 1, "big"}}, .resources = {named}};
    AdaptationOptions options{.cores = {.big = 4}};
    CHECK(better_schedule(profile, now, options)->resources == now.resources);
    options.model.far_cuts = {{"big", {{0, 2}, {1, 3}}, 25, 0}};
    const Schedule placed = *better_schedule(profile, now, options);
    CHECK(placed.thread_count() == 2);
    REQUIRE(placed.resources.size() == 1);
    CHECK(placed.resources[0].nodes[1] == NodeRange{NodeRange::Unit::kCore, 2, 2});
}

TEST_CASE("units are profiled while they run, per source frame and over all threads") {
    TurningChain chain([](int) {});
    const Schedule schedule{.stages = {{0, 1, 1, "big"}, {1, 3, 1, "big"}}};
    Pipeline pipeline(chain.graph, schedule);
    LiveProfile live(pipeline.structure());
    const RunReport report = pipeline.run({.frames = 20, .observers = {&live}});
    const LiveWindow seen = live.take();
    CHECK(seen.frames == 20);
    REQUIRE(seen.weights_us.size() == 4);
    const std::vector<double> expected_us = report.unit_weights_us();
    for (std::size_t unit = 0; unit < 3; ++unit) {
        CHECK(seen.weights_us[unit] == Approx(expected_us[unit]).epsilon(0.01));
    }
    CHECK(seen.weights_us[1] >= 1000);
    CHECK(live.take().frames == 0);
}

TEST_CASE("when a task becomes slower in mid-stream, the pipeline gets the schedule that is best now") {
    const Platform cores{.big = 4};
    Adaptation* adaptation = nullptr;
    TurningChain chain([&](int frame) {
        if (frame % 30 == 29 && adaptation) adaptation->look();
    });
    const Profile profile = profile_of_beginning();
    const Schedule first = herad(profile, cores);
    CHECK(threads_of_second(first) == 1);
    Pipeline pipeline(chain.graph, first);
    Adaptation kept(pipeline, profile, first, {.cores = cores, .threshold = 0.1});
    adaptation = &kept;
    const RunReport report = pipeline.run({.frames = 240, .observers = {&kept.observer()}});
    CHECK(report.delivered == 240);
    CHECK(chain.arrived == 240);
    CHECK(chain.in_order);
    REQUIRE_FALSE(kept.changes().empty());
    // A change that is wished for before the last one has come takes its place.
    CHECK_FALSE(report.bubbles_us.empty());
    CHECK(report.bubbles_us.size() <= kept.changes().size());
    for (const AdaptationChange& change : kept.changes()) CHECK(change.after_us < 0.9 * change.before_us);
    CHECK(kept.profile().tasks[2].weight_us[0] > 3000);
    CHECK(threads_of_second(kept.schedule()) > 1);
}

TEST_CASE("a stream too slow for one look to see enough adapts after several") {
    const Platform cores{.big = 4};
    Adaptation* adaptation = nullptr;
    TurningChain chain([&](int frame) {
        if (frame % 5 == 4 && adaptation) adaptation->look();
    });
    const Profile profile = profile_of_beginning();
    const Schedule first = herad(profile, cores);
    Pipeline pipeline(chain.graph, first);
    Adaptation kept(pipeline, profile, first, {.cores = cores, .least_frames = 20});
    adaptation = &kept;
    CHECK(pipeline.run({.frames = 240, .observers = {&kept.observer()}}).delivered == 240);
    REQUIRE_FALSE(kept.changes().empty());
    CHECK(threads_of_second(kept.schedule()) > 1);
}

TEST_CASE("a pipeline that runs as it was profiled keeps its schedule") {
    const Profile profile = profile_of_beginning();
    const Schedule schedule = herad(profile, {.big = 2});
    TurningChain chain([](int) {});
    Pipeline pipeline(chain.graph, schedule);
    Adaptation adaptation(pipeline, profile, schedule, {.cores = {.big = 2}, .threshold = 0.5});
    pipeline.run({.frames = 50, .observers = {&adaptation.observer()}});
    CHECK_FALSE(adaptation.look());
    CHECK(adaptation.changes().empty());
    CHECK(adaptation.schedule() == schedule);
}
