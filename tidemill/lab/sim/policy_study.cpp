#include "tidemill/lab/sim/policy_study.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "tidemill/machine/side_by_side.hpp"

namespace tidemill {

namespace {

SimulatedTasks run(TaskProgram& program, unsigned workers, const std::string& policy,
                   const policy::Window& window, TaskMachine machine) {
    machine.speeds.assign(workers, 1.0);
    machine.kinds.clear();
    return simulate_tasks(program, machine, {.policy = policy, .window = window});
}

// Peak memory of the program on one worker, in the order of creation.
double sequential_bytes(const std::string& name, bool coarse) {
    const auto small = make_task_program(name, {.iterations = 3, .coarse = coarse});
    return static_cast<double>(run(*small, 1, "oldest", {.iterations = 1}, {}).peak_bytes);
}

double speed_of(const PolicyStudy& study, const SimulatedTasks& report) {
    return study.whole ? report.utilisation : report.settled_utilisation;
}

// One program on one number of workers under all policies.
class Comparison {
  public:
    Comparison(const PolicyStudy& study, const std::string& name, unsigned workers, double sequential_bytes)
        : study_(study), workers_(workers), sequential_bytes_(sequential_bytes) {
        TaskProgramSize size = study.size;
        if (study.tasks_per_worker > 0) size.tasks = study.tasks_per_worker * workers;
        program_ = make_task_program(name, size);
    }

    void run_under(const std::string& policy) {
        results_.push_back({program_->name(), workers_, policy,
                            run(*program_, workers_, policy, study_.window, study_.machine)});
    }

    std::vector<PolicyResult> compared() && {
        double best = 0;
        for (const PolicyResult& result : results_) best = std::max(best, speed_of(study_, result.report));
        for (PolicyResult& result : results_) {
            result.of_best = speed_of(study_, result.report) / best;
            result.memory_ratio = static_cast<double>(result.report.peak_bytes) / sequential_bytes_;
        }
        return std::move(results_);
    }

  private:
    const PolicyStudy& study_;
    unsigned workers_;
    double sequential_bytes_;
    std::unique_ptr<TaskProgram> program_;
    std::vector<PolicyResult> results_;
};

}  // namespace

std::vector<PolicyResult> study_policies(const PolicyStudy& study) {
    const std::size_t counts = study.workers.size(), comparisons = study.programs.size() * counts;
    std::vector<double> alone_bytes;
    for (const std::string& name : study.programs)
        alone_bytes.push_back(sequential_bytes(name, study.size.coarse));
    std::vector<std::vector<PolicyResult>> compared(comparisons);
    std::mutex mutex;
    std::size_t begun = 0;
    const auto tell = [&](const std::string& name, unsigned workers, const std::string& policy) {
        if (!study.progress) return;
        const std::scoped_lock lock(mutex);
        study.progress(
            fmt::format("{}, {} workers, {}", name, workers, policy),
            static_cast<double>(begun++) / static_cast<double>(comparisons * study.policies.size()));
    };
    side_by_side(comparisons, cores_to_use(), [&](std::size_t k) {
        const std::string& name = study.programs[k / counts];
        const unsigned workers = study.workers[k % counts];
        Comparison comparison(study, name, workers, alone_bytes[k / counts]);
        for (const std::string& policy : study.policies) {
            tell(name, workers, policy);
            comparison.run_under(policy);
        }
        compared[k] = std::move(comparison).compared();
    });
    std::vector<PolicyResult> results;
    for (std::vector<PolicyResult>& some : compared) std::ranges::move(some, std::back_inserter(results));
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
