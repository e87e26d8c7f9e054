#include "tidemill/lab/tasks/profile_tasks.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/lab/programs/profile_run.hpp"
#include "tidemill/lab/sim/profile_stream.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/bound.hpp"

namespace tidemill::cli {

namespace {

constexpr std::uint64_t kSimulated = 600;  // executions, where nobody says how many

struct Outcome {
    std::uint64_t iterations = 0;
    double period_us = 0;
    double makespan_us = 0;
    DistanceToBound distance{};
    std::optional<double> explored{};          // share of the work; of simulated runs
    std::optional<double> profile_bound_us{};  // the bound if tasks took what the profile says
    std::optional<double> simulated_us{};      // the same run's period on modelled cores; of real ones
};

Platform platform_of(const ProfileTasks& wanted) {
    if (wanted.cores.empty() && wanted.profile.cores == Platform{})
        throw WrongUsage("--cores is missing and the profile names none: write for instance --cores big=4");
    if (wanted.cores.empty()) return wanted.profile.cores;
    try {
        return parse_platform(wanted.cores);
    } catch (const ScheduleError& error) {
        throw WrongUsage(fmt::format("--cores: {}", error.what()));
    }
}

// When all has settled; of a few executions, from beginning to end.
double period_us(const std::vector<double>& ends_us) {
    constexpr std::size_t kFew = 20;
    if (ends_us.size() < kFew) return std::ranges::max(ends_us) / static_cast<double>(ends_us.size());
    const std::size_t from = ends_us.size() / 4;
    const std::size_t to = ends_us.size() * 19 / 20;
    return (ends_us[to] - ends_us[from]) / static_cast<double>(to - from);
}

Outcome run_modelled(const ProfileTasks& wanted, const Platform& platform) {
    std::vector<std::string> kinds;
    std::vector<int> cores;
    for (const CoreCount& kind : platform.kinds()) {
        if (kind.count == 0) continue;
        kinds.push_back(kind.kind);
        cores.push_back(kind.count);
    }
    const Bound bound = bound_of(wanted.profile, platform);
    const std::uint64_t iterations = wanted.iterations > 0 ? wanted.iterations : kSimulated;
    const ProfileStream stream = profile_stream(wanted.profile, kinds);
    TaskMachine machine = wanted.machine;
    TaskScheduling scheduling = wanted.scheduling;
    stream.put_into(cores, machine, scheduling);
    std::vector<double> ends_us(iterations, 0);
    const SimulatedTasks report = simulate_tasks(*stream_program(stream.graph, iterations), machine,
                                                 scheduling, [&](const RanTask& task) {
                                                     double& end_us = ends_us[task.iteration];
                                                     end_us = std::max(end_us, task.end_us);
                                                 });
    Outcome outcome{
        .iterations = iterations, .makespan_us = report.makespan_us, .explored = report.explored_share};
    outcome.period_us = period_us(ends_us);
    outcome.distance = {
        outcome.period_us, bound.period_us,
        bound.sequential_task
            ? fmt::format("`{}` is sequential and bounds it", *bound.sequential_task)
            : fmt::format("workers had nothing to do {:.0f} % of the time", 100 * (1 - report.utilisation))};
    return outcome;
}

// Times of the tasks in this very run, where they ran: no core here is as fast as it is alone.
Profile as_measured(Profile profile, const RunReport& report) {
    for (const UnitOnKind& on : report.on_kinds) {
        double& weight_us = profile.tasks[on.unit].weight_us[profile.kind_index(on.kind)];
        if (on.calls > 0) weight_us = on.total_us / static_cast<double>(on.calls);
    }
    return profile;
}

Outcome run_real(const ProfileTasks& wanted, const Platform& platform) {
    const RunReport report = run_profile(wanted.profile, {.cores = platform,
                                                          .policy = wanted.scheduling.policy,
                                                          .window = wanted.scheduling.window,
                                                          .placing = wanted.scheduling.placing,
                                                          .frames = wanted.iterations});
    ProfileTasks modelled = wanted;
    modelled.profile = as_measured(wanted.profile, report);
    modelled.iterations = std::max(report.frames, kSimulated);
    Outcome outcome{.iterations = report.frames,
                    .period_us = report.best->period_us,
                    .makespan_us = 1e6 * report.elapsed_s};
    outcome.distance = {outcome.period_us, report.best->bound_us, report.best->between};
    outcome.profile_bound_us = bound_of(wanted.profile, platform).period_us;
    outcome.simulated_us = run_modelled(modelled, platform).period_us;
    return outcome;
}

const char* to_string(Placing placing) {
    return placing == Placing::none ? "none" : placing == Placing::learned ? "learned" : "known";
}

Json to_json(const ProfileTasks& wanted, const Platform& platform, const Outcome& outcome) {
    Json json{{"policy", wanted.scheduling.policy}, {"placing", to_string(wanted.scheduling.placing)},
              {"simulated", wanted.simulated},      {"cores", tidemill::to_string(platform)},
              {"iterations", outcome.iterations},   {"unit", "us"},
              {"makespan", outcome.makespan_us},    {"period", outcome.period_us},
              {"bound", outcome.distance.bound_us}, {"percent_above", outcome.distance.percent()}};
    if (outcome.explored) json["explored"] = *outcome.explored;
    if (outcome.profile_bound_us) json["profile_bound"] = *outcome.profile_bound_us;
    if (outcome.simulated_us) json["simulated_period"] = *outcome.simulated_us;
    return json;
}

void print_text(const ProfileTasks& wanted, const Platform& platform, const Outcome& outcome) {
    print("{} tasks under {}, factors {}, on {}{}: {} executions\n", wanted.profile.tasks.size(),
          wanted.scheduling.policy, to_string(wanted.scheduling.placing), tidemill::to_string(platform),
          wanted.simulated ? "" : ", emulated", outcome.iterations);
    print("period {:.2f} us\n{}", outcome.period_us, outcome.distance.line());
    if (wanted.simulated) return;
    print("profile {:.2f} us is the bound by it; tasks took {:.2f} times what it says\n",
          *outcome.profile_bound_us, outcome.distance.bound_us / *outcome.profile_bound_us);
    print("simulated {:.2f} us by the same times: the real period is {:+.1f} % of it away\n",
          *outcome.simulated_us, 100 * (outcome.period_us / *outcome.simulated_us - 1));
    print("checked bit by bit as in order\n");
}

}  // namespace

int ProfileTasks::run(bool json) const {
    const Platform platform = platform_of(*this);
    const Outcome outcome = simulated ? run_modelled(*this, platform) : run_real(*this, platform);
    if (json) {
        print("{}\n", to_text(to_json(*this, platform, outcome), 2));
    } else {
        print_text(*this, platform, outcome);
    }
    return kDone;
}

}  // namespace tidemill::cli
