#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tidemill/lab/sim/profile_stream.hpp"
#include "tidemill/scheduling/static/bound.hpp"

namespace tidemill::internal {

struct Cores {
    int big;
    int little;
};

/// A simulated run's period between a quarter and 95 % of its iterations, over the bound.
class PeriodOverBound {
  public:
    static constexpr int kWindow = 16;  // frames in flight of a chain, tasks of a mix

    /// `independent`: the tasks of a frame need not follow each other.
    PeriodOverBound(const Chain& chain, Cores cores, bool independent = false)
        : stream_(profile_stream(chain, {"big", "little"})),
          independent_(independent),
          cores_{cores.big, cores.little},
          bound_us_(bound_of(chain, {.big = cores.big, .little = cores.little}).period_us) {
        if (independent) stream_.graph.edges.clear();
    }

    double operator()(const std::string& policy, Placing placing, std::uint64_t iterations = 600) {
        TaskMachine machine{.noise = 0.02};
        TaskScheduling scheduling{.policy = policy, .placing = placing};
        (independent_ ? scheduling.window.tasks : scheduling.window.iterations) = kWindow;
        stream_.put_into(cores_, machine, scheduling);
        const auto program = stream_program(stream_.graph, iterations);
        std::vector<double> ends_us(iterations, 0);
        simulate_tasks(*program, machine, scheduling, [&](const RanTask& task) {
            ends_us[task.iteration] = std::max(ends_us[task.iteration], task.end_us);
        });
        std::ranges::sort(ends_us);  // some policies let an old frame wait
        const std::size_t from = iterations / 4;
        const std::size_t to = iterations * 19 / 20;
        return (ends_us[to] - ends_us[from]) / static_cast<double>(to - from) / bound_us_;
    }

  private:
    ProfileStream stream_;
    bool independent_;
    std::vector<int> cores_;
    double bound_us_;
};

/// Independent task types, as many as a mix has kernels: log-normal costs, and a little core takes 1.2 to 5
/// times as long.
inline Chain random_mix(std::uint64_t seed, int kernels) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> cost(5, 0.7);
    std::uniform_real_distribution<double> ratio(1.2, 5);
    Chain chain{{"big", "little"}, {}};
    for (int task = 0; task < kernels; ++task) {
        const double big_us = cost(random);
        chain.tasks.push_back({"task " + std::to_string(task), true, {big_us, big_us * ratio(random)}});
    }
    return chain;
}

}  // namespace tidemill::internal
