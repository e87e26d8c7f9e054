#include "tidemill/sim/policy_study.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tidemill {

namespace {

SimulatedTasks run(TaskProgram& program, unsigned workers, const std::string& policy,
                   const policy::Window& window, double noise) {
    const TaskMachine machine{.speeds = std::vector<double>(workers, 1.0), .noise = noise};
    return simulate_tasks(program, machine, {.policy = policy, .window = window});
}

double speed_of(const PolicyStudy& study, const SimulatedTasks& report) {
    return study.whole ? report.utilisation : report.settled_utilisation;
}

}  // namespace

std::vector<PolicyResult> study_policies(const PolicyStudy& study) {
    std::vector<PolicyResult> results;
    for (const std::string& name : study.programs) {
        const auto small = make_task_program(name, {.iterations = 3, .coarse = study.size.coarse});
        const SimulatedTasks alone = run(*small, 1, "oldest", {.iterations = 1}, 0);
        for (const unsigned workers : study.workers) {
            TaskProgramSize size = study.size;
            if (study.tasks_per_worker > 0) size.tasks = study.tasks_per_worker * workers;
            const auto program = make_task_program(name, size);
            const std::size_t first = results.size();
            double best = 0;
            for (const std::string& policy : study.policies) {
                results.push_back(
                    {name, workers, policy, run(*program, workers, policy, study.window, study.noise)});
                best = std::max(best, speed_of(study, results.back().report));
            }
            for (PolicyResult& result : std::span(results).subspan(first)) {
                result.of_best = speed_of(study, result.report) / best;
                result.memory_ratio =
                    static_cast<double>(result.report.peak_bytes) / static_cast<double>(alone.peak_bytes);
            }
        }
    }
    return results;
}

PolicySummary summary_of(const std::string& policy, std::span<const PolicyResult> results) {
    PolicySummary summary{.policy = policy};
    double logarithms = 0;
    double count = 0;
    for (const PolicyResult& result : results) {
        if (result.policy != policy) continue;
        ++count;
        summary.mean_of_best += result.of_best;
        logarithms += std::log(result.memory_ratio);
        summary.most_memory_ratio = std::max(summary.most_memory_ratio, result.memory_ratio);
        if (result.of_best >= summary.least_of_best) continue;
        summary.least_of_best = result.of_best;
        summary.least_program = fmt::format("{}, {} workers", result.program, result.workers);
    }
    summary.mean_of_best /= count;
    summary.mean_memory_ratio = std::exp(logarithms / count);
    return summary;
}

}  // namespace tidemill
