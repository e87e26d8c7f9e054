#pragma once

#include <string>
#include <string_view>

#include "tidemill/lab/programs/real_run.hpp"

namespace tidemill::cli {

/// Runs a program of tasks on real workers, checks it, and prints what came of it, with a trace where a file
/// for it is named. Throws JobFailed when it came out wrong, or the trace cannot be written.
int run_tasks_for_real(std::string_view program, const TaskProgramSize& size, RealRunOptions options,
                       const std::string& trace, bool json);

}  // namespace tidemill::cli
