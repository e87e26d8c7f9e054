#include "tidemill/cli/tasks/profile_simulation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/json/json.hpp"
#include "tidemill/schedule/bound.hpp"
#include "tidemill/sim/profile_stream.hpp"

namespace tidemill::cli {

namespace {

struct Outcome {
    SimulatedTasks report;
    double period_us = 0;
    DistanceToBound distance;
};

Platform platform_of(const ProfileSimulation& wanted) {
    if (wanted.cores.empty() && wanted.profile.cores == Platform{})
        throw WrongUsage("--cores is missing and the profile names none: write for instance --cores big=4");
    if (wanted.cores.empty()) return wanted.profile.cores;
    try {
        return parse_platform(wanted.cores);
    } catch (const ScheduleError& error) {
        throw WrongUsage(fmt::format("--cores: {}", error.what()));
    }
}

// When all has settled.
double period_us(const std::vector<double>& ends_us) {
    const std::size_t from = ends_us.size() / 4;
    const std::size_t to = ends_us.size() * 19 / 20;
    return (ends_us[to] - ends_us[from]) / static_cast<double>(to - from);
}

Outcome simulated(const ProfileSimulation& wanted, const Platform& platform) {
    std::vector<std::string> kinds;
    std::vector<int> cores;
    for (const CoreCount& kind : platform.kinds()) {
        if (kind.count == 0) continue;
        kinds.push_back(kind.kind);
        cores.push_back(kind.count);
    }
    const Bound bound = bound_of(wanted.profile, platform);
    const ProfileStream stream = profile_stream(wanted.profile, kinds);
    TaskMachine machine = wanted.machine;
    TaskScheduling scheduling = wanted.scheduling;
    stream.put_into(cores, machine, scheduling);
    std::vector<double> ends_us(wanted.iterations, 0);
    Outcome outcome;
    outcome.report = simulate_tasks(*stream_program(stream.graph, wanted.iterations), machine, scheduling,
                                    [&](const RanTask& task) {
                                        double& end_us = ends_us[task.iteration];
                                        end_us = std::max(end_us, task.end_us);
                                    });
    outcome.period_us = period_us(ends_us);
    outcome.distance = {outcome.period_us, bound.period_us,
                        bound.sequential_task
                            ? fmt::format("`{}` is sequential and bounds it", *bound.sequential_task)
                            : fmt::format("workers had nothing to do {:.0f} % of the time",
                                          100 * (1 - outcome.report.utilisation))};
    return outcome;
}

const char* to_string(Placing placing) {
    return placing == Placing::none ? "none" : placing == Placing::learned ? "learned" : "known";
}

}  // namespace

int ProfileSimulation::run(bool json) const {
    const Platform platform = platform_of(*this);
    const Outcome outcome = simulated(*this, platform);
    if (json) {
        print("{}\n", to_text(Json{{"policy", scheduling.policy},
                                   {"placing", to_string(scheduling.placing)},
                                   {"simulated", true},
                                   {"cores", tidemill::to_string(platform)},
                                   {"iterations", iterations},
                                   {"unit", "us"},
                                   {"period", outcome.period_us},
                                   {"bound", outcome.distance.bound_us},
                                   {"percent_above", outcome.distance.percent()},
                                   {"explored", outcome.report.explored_share}},
                              2));
        return kDone;
    }
    print("{} tasks under {}, factors {}, on {}: {} executions\n", profile.tasks.size(), scheduling.policy,
          to_string(scheduling.placing), tidemill::to_string(platform), iterations);
    print("period {:.2f} us\n{}", outcome.period_us, outcome.distance.line());
    return kDone;
}

}  // namespace tidemill::cli
