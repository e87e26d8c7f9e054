#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/base/error.hpp"
#include "tidemill/lab/programs/synthetic_work.hpp"
#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/dynamic/throttle.hpp"

namespace tidemill {

struct RealRunOptions {
    std::string policy = "gpriority";
    std::size_t workers = 2;
    policy::Window window{};
    policy::Adapting adapting{};
    Pastime pastime = Pastime::computing;
    bool record = false;  ///< what each worker does, task by task
};

/// Result of a program that ran.
struct RealRun {
    std::string name;
    std::size_t workers = 0;
    std::uint64_t tasks = 0;
    std::uint64_t iterations = 0;
    double makespan_us = 0;
    double work_us = 0;      ///< that the tasks are worth: what they take in order, or are to wait
    double in_tasks_us = 0;  ///< that they took here, over all workers
    std::optional<double> mean_latency_us{};  ///< of iterations, from the first task to the last; of streams
    std::optional<double> most_latency_us{};
    std::optional<std::uint64_t> token_bytes{};  ///< that frames in flight may take; of streams
    std::optional<std::uint64_t> peak_tasks{};   ///< most in flight; of programs that spawn
    std::optional<double> residual{};            ///< of factorisations
    std::vector<std::string> types{};            ///< their names
    std::vector<RanTask> record{};               ///< in the order in which they began

    double efficiency() const { return work_us / (makespan_us * static_cast<double>(workers)); }
    double utilisation() const { return in_tasks_us / (makespan_us * static_cast<double>(workers)); }
};

/// A run whose result differs from that in order.
struct WrongResult : Error {
    using Error::Error;
};

/// Runs a program on real workers: StreamIt's graphs under Dynamic, a task per task type and iteration; the
/// others by Tasks. Then runs it in order, and compares all that came out, bit by bit; of waiting tasks
/// without the waiting. Where `size` says no iterations, as many as take each worker about a second.
///
/// Throws ScheduleError for a name that there is not, PolicyError for a policy or window that cannot be,
/// GraphError for a window without room for a frame, WrongResult.
RealRun run_for_real(std::string_view name, TaskProgramSize size, const RealRunOptions& options);

}  // namespace tidemill
