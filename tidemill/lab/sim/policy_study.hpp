#pragma once

#include <span>
#include <string>
#include <vector>

#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"

namespace tidemill {

/// Result of one policy for one program on so many workers.
struct PolicyResult {
    std::string program;
    unsigned workers;
    std::string policy;
    SimulatedTasks report;
    double of_best = 0;  ///< share of the best policy's speed for the same program and workers
    double memory_ratio =
        0;  ///< peak memory, as a multiple of what one worker needs in the order of creation
};

/// Programs, policies and workers to compare. Speeds are compared once the runs have settled, so that the
/// adaptive policies have adapted; with `whole`, over the whole run.
struct PolicyStudy {
    std::vector<std::string> programs;
    std::vector<std::string> policies;
    std::vector<unsigned> workers;
    TaskProgramSize size{};
    std::uint64_t tasks_per_worker = 0;  ///< instead of size.tasks: the same simulated time for all
    policy::Window window{};
    TaskMachine machine{};  ///< what tasks cost on it; its speeds and kinds are not used
    bool whole = false;

    /// Called for each run, before it begins, and what share of all runs has begun before; by any thread, one
    /// at a time.
    std::function<void(std::string_view run, double done)> progress{};
};

/// Runs every program under every policy on every number of workers, as many of them at once as there are
/// cores; results in this order.
std::vector<PolicyResult> study_policies(const PolicyStudy& study);

/// The mean and the worst of a policy's results.
struct PolicySummary {
    std::string policy;
    double mean_of_best = 0;
    double least_of_best = 1;
    std::string least_program{};   ///< with its workers
    double mean_memory_ratio = 0;  ///< geometric
    double most_memory_ratio = 0;
};
PolicySummary summary_of(const std::string& policy, std::span<const PolicyResult> results);

}  // namespace tidemill
