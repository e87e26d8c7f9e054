#include "tidemill/scheduling/static/assumed_kind.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {
namespace {

Profile measured_on_big() {
    Profile profile;
    profile.kinds = {"big"};
    profile.tasks = {
        {.name = "a", .weight_us = {10}, .spread = {{.error_us = 1, .p99_us = 12, .once_us = 3}}},
        {.name = "b", .replicable = true, .weight_us = {20}}};
    profile.cores.big = 2;
    return profile;
}

}  // namespace

TEST_CASE(
    "assumed kind: every task takes so many times as long, and the profile says that nobody measured it") {
    const Profile both = with_kind(measured_on_big(), "little", "big", 2.5);
    CHECK(both.kinds == std::vector<std::string>{"big", "little"});
    CHECK(both.tasks[0].weight_us == std::vector<double>{10, 25});
    CHECK(both.tasks[1].weight_us == std::vector<double>{20, 50});
    CHECK(both.tasks[0].spread[1] == WeightSpread{2.5, 30, 7.5});
    CHECK(both.tasks[1].spread.empty());
    CHECK(both.cores == Platform{.big = 2});
    CHECK(both.warnings ==
          std::vector<std::string>{
              "core kind 'little' was not measured: its weights are 2.5 times those of 'big'"});
    CHECK_NOTHROW(check(both));
    CHECK(parse_profile(to_json(both), "text") == both);
}

TEST_CASE("assumed kind: weights are whole nanoseconds, which exact scheduling takes") {
    const Profile both = with_kind(measured_on_big(), "little", "big", 1.1 / 3);
    CHECK(both.tasks[0].weight_us[1] == 3.667);
    CHECK(herad(both, {.big = 1, .little = 1}).period_us > 0);
}

TEST_CASE("assumed kind: a task that cannot run on the one cannot on the other") {
    Profile profile = measured_on_big();
    profile.kinds.emplace_back("other");
    for (ChainTask& task : profile.tasks) {
        task.weight_us.push_back(kCannotRun);
        task.spread.clear();
    }
    CHECK(with_kind(profile, "little", "other", 2).tasks[0].weight_us.back() == kCannotRun);
}

TEST_CASE("assumed kind: a profile of one kind serves any platform, one of several is left as it is") {
    const Profile profile = measured_on_big();
    CHECK(with_kinds_of(profile, {.big = 4}) == profile);
    const Profile wider =
        with_kinds_of(profile, {.big = 4, .little = 4, .others = {{"mid", 1}, {"none", 0}}});
    CHECK(wider.kinds == std::vector<std::string>{"big", "little", "mid"});
    CHECK(wider.warnings.size() == 2);
    CHECK(wider.warnings[0] == "core kind 'little' was not measured: its weights are those of 'big'");
    CHECK(with_kinds_of(wider, {.others = {{"huge", 1}}}) == wider);
}

TEST_CASE("assumed kind: what cannot be is refused") {
    const Profile profile = measured_on_big();
    const auto refuses = [&](std::string_view kind, std::string_view like, double times,
                             const char* sentence) {
        CHECK_THROWS_WITH_AS(with_kind(profile, kind, like, times), sentence, ScheduleError);
    };
    refuses("big", "big", 1, "core kind 'big' has weights already; give a kind that was not measured");
    refuses("little", "huge", 1, "the chain has no weights for core kind 'huge', only for: big");
    refuses("", "big", 1, "a core kind without a name; give one, for instance \"little\"");
    refuses("little", "big", 0, "core kind 'little' takes 0 times as long as 'big': give a number above 0");
    Profile device = profile;
    device.kinds.emplace_back("gpu");
    for (ChainTask& task : device.tasks) task.weight_us.push_back(5);
    device.tasks[0].batches = {{.kind = "gpu", .batch_us = 1, .frame_us = 1}};
    CHECK_THROWS_WITH_AS(with_kind(device, "gpu2", "gpu", 1),
                         "'gpu' is a device, whose weights are of batches; name a kind of cores",
                         ScheduleError);
}

}  // namespace tidemill
