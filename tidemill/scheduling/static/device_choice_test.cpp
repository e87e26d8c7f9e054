#include "tidemill/scheduling/static/device_choice.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/herad.hpp"

namespace tidemill {
namespace {

/// 30 us of work on one core, of which 20 could go to a device.
Chain chain_with_device(double frame_us, double host_us) {
    Chain chain{{"big"}, {{"front", false, {6}}, {"decode", true, {20}}, {"sink", false, {4}}}};
    add_device(chain, "decode",
               {.kind = "gpu",
                .batch_us = 160,
                .frame_us = frame_us,
                .frames = 2,
                .host_us = host_us,
                .most_frames = 64});
    return chain;
}

DeviceChoice choose(const Chain& chain, int big, double least_gain = 0) {
    return choose_device(chain, Platform{.big = big, .others = {{"gpu", 1}}}, strategy("herad"), {}, {},
                         least_gain);
}

}  // namespace

TEST_CASE("a device is one more kind of core: its task alone has a weight there, of the largest batches") {
    const Chain chain = chain_with_device(1, 0.5);
    CHECK(chain.kinds == std::vector<std::string>{"big", "gpu"});
    CHECK(chain.tasks[0].weight_us == std::vector<double>{6, kCannotRun});
    CHECK(chain.tasks[1].weight_us == std::vector<double>{20, 7});
    CHECK(chain.is_device("gpu"));
    CHECK_FALSE(chain.is_device("big"));
    Chain twice = chain;
    CHECK_THROWS_WITH(add_device(twice, "decode", {.kind = "gpu"}),
                      "chain: core kind 'gpu' is there already; give the device another name");
    CHECK_THROWS_WITH(add_device(twice, "encode", {.kind = "npu"}),
                      "chain: no task is named 'encode', which runs on 'npu'");
}

TEST_CASE("weights that were measured stay as sure as they were beside a device's") {
    Chain chain{{"big"}, {{"front", false, {6}}, {"decode", true, {20}}}};
    for (ChainTask& task : chain.tasks) task.spread = {{.error_us = 0.5, .p99_us = 30}};
    add_device(chain, "decode", {.kind = "gpu", .batch_us = 160, .frames = 1, .most_frames = 64});
    CHECK_NOTHROW(check(chain));
    CHECK(chain.tasks[1].spread == std::vector<WeightSpread>{{.error_us = 0.5, .p99_us = 30}, {}});
}

TEST_CASE("where a device shortens the period it is used, and the sentence says by how much") {
    const DeviceChoice choice = choose(chain_with_device(0.5, 0.5), 2);
    CHECK(choice.device == "gpu");
    CHECK(*choice.schedule.period_us == 7);  // front 6, and 1 of the host
    CHECK(choice.why == "decode runs on gpu in batches of 64: the period is 7.00 us, without it 24.00 us");
    CHECK(choice.schedule.stages[1].pinning == Pinning::kLoose);
}

TEST_CASE("what is known of the cores alone is not asked for again, and compared as it is") {
    static int asked = 0;
    const Strategy counted{
        "counted", "herad",
        [](const Chain& chain, const Platform& platform, const Objective& objective, const CostModel& model) {
            ++asked;
            return herad(chain, platform, objective, model);
        }};
    const Chain chain = chain_with_device(0.5, 0.5);
    Schedule alone = herad(chain, {.big = 2});
    alone.period_us = 100;
    CHECK(choose_device(alone, chain, {.big = 2}, counted, {}, {}).schedule == alone);
    CHECK(asked == 0);
    CHECK(choose_device(alone, chain, Platform{.big = 2, .others = {{"gpu", 1}}}, counted, {}, {}).why ==
          "decode runs on gpu in batches of 64: the period is 7.00 us, without it 100.00 us");
}

TEST_CASE("batches are no larger than what the period needs") {
    Chain chain = chain_with_device(0.5, 0);
    chain.tasks[0].weight_us[0] = 20;
    const DeviceChoice choice = choose(chain, 2);
    CHECK(choice.schedule.stages[1].batch == 32);  // 11 us of 20; batches of 16 would take 21
}

TEST_CASE(
    "where the host's part costs more than the device saves, the device is left, and the sentence says why") {
    const DeviceChoice choice = choose(chain_with_device(0.5, 9), 2);
    CHECK_FALSE(choice.device);
    CHECK(*choice.schedule.period_us == 24);
    CHECK(
        choice.why ==
        "the device is not worth it here: a frame of decode takes 3.0 us on gpu in batches of 64, and 9.0 us "
        "of "
        "the host; on big it takes 10.0 us; with it the period would be 24.00 us, without it it is 24.00 us");
}

TEST_CASE("where it was measured, the sentence tells how much of a batch is copies") {
    Chain chain = chain_with_device(0.5, 9);
    chain.tasks[1].batches[0].alone = {{60, 10}, {100, 0.4}, 73000, "copy"};
    CHECK(
        choose(chain, 2).why.find("on gpu in batches of 64 (one takes 826 us, 700 of it copies by copy), and "
                                  "9.0 us of the host") != std::string::npos);
}

TEST_CASE("neighbours go to a device together where what need not be copied makes that worth it") {
    Chain chain{{"big", "gpu"},
                {{"front", false, {6, kCannotRun}},
                 {"a", true, {12, 0}},
                 {"b", true, {12, 0}},
                 {"sink", false, {4, kCannotRun}}}};
    for (const std::size_t task : {1, 2}) {
        chain.tasks[task].batches = {{.kind = "gpu", .batch_us = 128, .frame_us = 9, .most_frames = 64}};
        chain.tasks[task].weight_us[1] = chain.tasks[task].batches[0].weight_us(64);
    }
    const DeviceChoice crosses = choose(chain, 3);
    CHECK(*crosses.schedule.period_us == 12);  // both there would take 22
    chain.tasks[1].batches[0].out = {64, 4};
    chain.tasks[2].batches[0].in = {64, 4};
    const DeviceChoice stays = choose(chain, 2);
    CHECK(stays.device == "gpu");
    CHECK(*stays.schedule.period_us == 12);  // 22 less 5 and 5
    REQUIRE(stays.schedule.stages.size() == 3);
    CHECK(stays.schedule.stages[1].first_task == 1);
    CHECK(stays.schedule.stages[1].task_count == 2);
    CHECK(stays.schedule.stages[1].batch == 64);
    CHECK(stays.schedule.stages[2].first_task == 3);
    CHECK(stays.schedule.task_names == std::vector<std::string>{"front", "a", "b", "sink"});
    CHECK(resident_us(stays.schedule.stages[1], chain) == 10);
    check(stays.schedule, chain);
    chain.tasks[1].batches[0].in = {65, 0};
    CHECK_THROWS_WITH(check(chain), "task 'a': neighbours on 'gpu' save more of its batches than these cost");
}

TEST_CASE("a gain that is too small to count is none, and a platform without devices has nothing to tell") {
    Chain chain = chain_with_device(8, 1);
    CHECK(choose(chain, 2).device == "gpu");
    CHECK_FALSE(choose(chain, 2, 0.5).device);
    const DeviceChoice alone = choose_device(chain, Platform{.big = 2}, strategy("herad"), {}, {});
    CHECK_FALSE(alone.device);
    CHECK(alone.why.empty());
    chain.tasks[0].weight_us[0] = 60;  // on two cores nobody waits for the rest
    CHECK(choose(chain, 2).why.ends_with("; no schedule with a stage on it is faster than 60.00 us"));
}

}  // namespace tidemill
