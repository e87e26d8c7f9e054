#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tidemill/lab/sim/task_program.hpp"
#include "tidemill/scheduling/dynamic/throttle.hpp"

namespace tidemill {

/// Workers and what a runtime costs them.
struct TaskMachine {
    std::vector<double> speeds{1};        ///< of each worker: work done per time
    std::vector<policy::KindId> kinds{};  ///< of each worker's core; 0 where not given
    /// Slowdown of each task type on each kind, beyond its speed; 1 where not given.
    std::vector<std::vector<double>> slowdowns{};
    double create_us = 0;  ///< that the master spends on creating a task
    double change_us = 0;  ///< and on each rank of other tasks that this changes
    double task_us = 0;    ///< that a worker spends on issuing and completing one
    /// Where creation costs something, the master is the first worker, which runs tasks while it is held back
    /// and when all are created; else it is a thread of its own beside the workers.
    bool master_works = true;
    bool ends_together =
        false;         ///< tasks with equal ends all end before any worker is served, not one at a time
    double noise = 0;  ///< relative standard deviation of task times
    std::uint64_t seed = 1;
};

/// Rule for the tasks that a worker may have, by what they take on its kind of core.
enum class Placing : std::uint8_t {
    none,     ///< nothing: any that are ready
    learned,  ///< factors that are learned on the way
    known,    ///< factors that are known ahead
};

/// How tasks are scheduled.
struct TaskScheduling {
    std::string policy = "oldest";
    policy::Window window{};
    policy::Adapting adapting{};
    std::vector<policy::KindSet> type_kinds{};  ///< on which each task type may run; any where not given
    Placing placing = Placing::none;
    std::vector<double> work_us{};   ///< of each task type, where factors are known ahead
    std::vector<bool> sequential{};  ///< task types that work on one task at a time; none where not given
    policy::Policy* made = nullptr;  ///< one made already, to be looked into; else it is made by its name
};

/// One task's run, simulated or real.
struct RanTask {
    std::uint64_t number;
    policy::TaskTypeId type;
    std::uint64_t iteration;
    policy::WorkerId worker;
    double begin_us;
    double end_us;
};

/// Result of a simulated run.
struct SimulatedTasks {
    std::uint64_t tasks = 0;
    std::size_t workers = 0;
    double makespan_us = 0;
    double work_us = 0;              ///< of all tasks, at speed 1
    double utilisation = 0;          ///< share of the workers' time that they ran tasks
    double settled_utilisation = 0;  ///< the same between half and 95 % of the tasks, when all has settled
    double mean_latency_us = 0;      ///< of iterations, from the first beginning to the last end
    double most_latency_us = 0;
    std::uint64_t peak_bytes = 0;     ///< most renamed bytes alive
    std::uint64_t peak_tasks = 0;     ///< most tasks in flight
    double explored_share = 0;        ///< share of the work that was done to learn factors
    double master_share = 0;          ///< share of the time that the master created tasks
    std::vector<double> ready_share;  ///< share of the time that so many tasks were ready and not running

    /// Share of the speed that all workers together could have.
    double efficiency(double all_speeds) const { return work_us / (makespan_us * all_speeds); }
};

/// Runs a program from its beginning on modelled workers under a policy. The same arguments give the same
/// report, always. Of tasks that end at the same time the newest ends first; idle workers are served in their
/// order. `observe` gets every task when it ends. Throws ScheduleError where a window in bytes is smaller
/// than the program needs to go on, PolicyError for a policy or window that there is not and for a task type
/// that no worker may run.
SimulatedTasks simulate_tasks(TaskProgram& program, const TaskMachine& machine,
                              const TaskScheduling& scheduling,
                              const std::function<void(const RanTask&)>& observe = {});

}  // namespace tidemill
