#include "tidemill/scheduling/static/interruption.hpp"

#include <functional>
#include <stop_token>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/os/published_programs.hpp"
#include "tidemill/lab/sim/os/system_study.hpp"
#include "tidemill/lab/sim/strategy_study.hpp"
#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/model/simulator.hpp"

namespace tidemill {

namespace {

// Each would take minutes.
constexpr std::size_t kLong = 1'000'000;

const std::function<void()> kLongWork[] = {
    [] {
        study_strategies({}, {4, 4}, kLong, 1);
    },
    [] {
        const auto program = make_task_program("channelvocoder", {.iterations = kLong});
        simulate_tasks(*program, {.speeds = {1, 1}}, {.window = {.iterations = 8}});
    },
    [] {
        const os::Ratios ratios{.least = 1.3, .most = 4.24};
        os::measure({.machine = os::big_little(1, 1, {.name = "big"}, {.name = "little", .speed = 0.5}),
                     .programs = os::published_programs("mibench", ratios, 1),
                     .scheduler = "cfs"},
                    kLong, 1);
    },
};

}  // namespace

TEST_CASE("interruption: studies and simulations end when they are asked to") {
    std::stop_source stop;
    const Interruptible here(stop.get_token());
    stop.request_stop();
    for (const auto& work : kLongWork) CHECK_THROWS_AS(work(), Interrupted);
}

TEST_CASE("interruption: a simulated pipeline ends amid its frames") {
    std::stop_source stop;
    const Interruptible here(stop.get_token());
    PipelineModel model;
    model.stages.resize(1);
    model.stages[0].work_us = {1};
    model.cores.resize(1);
    model.tokens = 1;
    std::uint64_t steps = 0;
    const auto ask = [&](const SimStep&) {
        if (++steps == 1000) stop.request_stop();
    };
    CHECK_THROWS_AS(simulate(model, 1'000'000, ask), Interrupted);
    CHECK(steps == 1000);
}

TEST_CASE("interruption: it holds within its scope, on its thread") {
    std::stop_source stop;
    stop.request_stop();
    {
        const Interruptible outer(stop.get_token());
        {
            const Interruptible inner{std::stop_token()};
            CHECK_NOTHROW(interruption_point());
        }
        CHECK_THROWS_AS(interruption_point(), Interrupted);
        CHECK(interruption().stop_requested());
    }
    CHECK_NOTHROW(interruption_point());
    CHECK_FALSE(interruption().stop_possible());
}

}  // namespace tidemill
