#pragma once

#include <memory>
#include <string>

#include "tidemill/lab/sim/task_simulator.hpp"

namespace tidemill::cli {

/// Writes what each worker did.
class TaskTrace {
  public:
    TaskTrace() = default;
    TaskTrace(const TaskTrace&) = delete;
    TaskTrace& operator=(const TaskTrace&) = delete;
    virtual ~TaskTrace() = default;

    virtual void add(const RanTask& task, const std::string& type) = 0;

    /// Writes what is left. Throws JobFailed when the file could not be written.
    virtual void finish() = 0;
};

/// A picture where `path` ends in .svg, with a line per worker and a colour per iteration; else events for
/// chrome://tracing and Perfetto. Throws JobFailed when the file cannot be written.
std::unique_ptr<TaskTrace> make_task_trace(const std::string& path, std::size_t workers);

}  // namespace tidemill::cli
