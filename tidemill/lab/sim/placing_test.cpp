#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/published.hpp"
#include "tidemill/lab/sim/testing/period_over_bound.hpp"

namespace tidemill {

using internal::Cores;
using internal::PeriodOverBound;
using internal::random_mix;

TEST_CASE("placing: the published receivers come near the bound, nearer than the optimal static schedule") {
    double logs = 0;
    int runs = 0;
    for (const std::string machine : {"opi5", "m1u", "ai370", "x7ti"}) {
        const Profile profile = published_profile(machine);
        for (const Cores cores : {Cores{1, 1}, Cores{1, 3}, Cores{2, 2}}) {
            CAPTURE(machine);
            CAPTURE(cores.big);
            CAPTURE(cores.little);
            PeriodOverBound run(profile, cores);
            const double learned = run("gpriority", Placing::learned);
            CHECK(learned < 1.10);
            CHECK(learned < run("gpriority", Placing::none) + 0.02);
            logs += std::log(learned);
            ++runs;
        }
    }
    CHECK(std::exp(logs / runs) < 1.03);
}

TEST_CASE("placing: random mixes come within 3 % of the bound under every order of tasks") {
    constexpr int kMixes = 6;
    for (const char* policy : {"gpriority", "oldest", "fifo", "toplev", "botlev"}) {
        double logs = 0;
        for (int mix = 0; mix < kMixes; ++mix) {
            const Chain chain = random_mix(static_cast<std::uint64_t>(mix) + 1, 8);
            const double over = PeriodOverBound(chain, {1, 1})(policy, Placing::learned);
            CHECK(over < 1.08);
            logs += std::log(over);
        }
        CAPTURE(policy);
        CHECK(std::exp(logs / kMixes) < 1.03);
    }
}

TEST_CASE("placing: where the ratios are equal nothing is lost, and a run is the same each time") {
    Chain chain{{"big", "little"}, {}};
    for (int task = 0; task < 6; ++task)
        chain.tasks.push_back({"task " + std::to_string(task), true, {100.0 + 20 * task, 200.0 + 40 * task}});
    PeriodOverBound run(chain, {2, 2});
    const double learned = run("gpriority", Placing::learned);
    CHECK(learned < 1.01 * run("gpriority", Placing::none));
    CHECK(learned == run("gpriority", Placing::learned));
}

TEST_CASE("placing: learning costs a hundred iterations little against factors that are known ahead") {
    for (const std::string machine : {"opi5", "m1u", "ai370", "x7ti"}) {
        CAPTURE(machine);
        const Profile profile = published_profile(machine);
        const ProfileStream stream = profile_stream(profile, {"big", "little"});
        const auto makespan_us = [&](Placing placing) {
            TaskMachine machine_model{.noise = 0.02};
            TaskScheduling scheduling{.policy = "gpriority", .placing = placing};
            scheduling.window.iterations = PeriodOverBound::kWindow;
            stream.put_into({1, 1}, machine_model, scheduling);
            return simulate_tasks(*stream_program(stream.graph, 100), machine_model, scheduling).makespan_us;
        };
        CHECK(makespan_us(Placing::learned) < 1.05 * makespan_us(Placing::known));
    }
}

}  // namespace tidemill
