#pragma once

#include <string_view>

#include "tidemill/programs/real_run.hpp"

namespace tidemill::cli {

/// Runs a program of tasks on real workers, checks it, and prints what came of it. Throws JobFailed when it
/// came out wrong.
int run_tasks_for_real(std::string_view program, const TaskProgramSize& size, const RealRunOptions& options,
                       bool json);

}  // namespace tidemill::cli
