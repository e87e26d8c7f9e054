#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/schedule/bound.hpp"
#include "tidemill/sim/profile_stream.hpp"
#include "tidemill/sim/published.hpp"
#include "tidemill/sim/stream_program.hpp"

namespace tidemill {
namespace {

constexpr int kWindow = 16;

struct Cores {
    int big;
    int little;
};

/// A simulated run's period between a quarter and 95 % of its iterations, over the bound.
class PeriodOverBound {
  public:
    PeriodOverBound(const Chain& chain, Cores cores)
        : stream_(profile_stream(chain, {"big", "little"})),
          cores_{cores.big, cores.little},
          bound_us_(bound_of(chain, {.big = cores.big, .little = cores.little}).period_us) {}

    double operator()(const std::string& policy, Placing placing, std::uint64_t iterations = 600) {
        TaskMachine machine{.noise = 0.02};
        TaskScheduling scheduling{.policy = policy, .placing = placing};
        scheduling.window.iterations = kWindow;
        stream_.put_into(cores_, machine, scheduling);
        const auto program = stream_program(stream_.graph, iterations);
        std::vector<double> ends_us(iterations, 0);
        simulate_tasks(*program, machine, scheduling, [&](const RanTask& task) {
            ends_us[task.iteration] = std::max(ends_us[task.iteration], task.end_us);
        });
        const std::size_t from = iterations / 4;
        const std::size_t to = iterations * 19 / 20;
        return (ends_us[to] - ends_us[from]) / static_cast<double>(to - from) / bound_us_;
    }

  private:
    ProfileStream stream_;
    std::vector<int> cores_;
    double bound_us_;
};

}  // namespace

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
            std::mt19937_64 random(static_cast<std::uint64_t>(mix) + 1);
            std::lognormal_distribution<double> cost(5, 0.7);
            std::uniform_real_distribution<double> ratio(1.2, 5);
            Chain chain{{"big", "little"}, {}};
            for (int task = 0; task < 8; ++task) {
                const double big_us = cost(random);
                chain.tasks.push_back(
                    {"task " + std::to_string(task), true, {big_us, big_us * ratio(random)}});
            }
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
            scheduling.window.iterations = kWindow;
            stream.put_into({1, 1}, machine_model, scheduling);
            return simulate_tasks(*stream_program(stream.graph, 100), machine_model, scheduling).makespan_us;
        };
        CHECK(makespan_us(Placing::learned) < 1.08 * makespan_us(Placing::known));
    }
}

}  // namespace tidemill
