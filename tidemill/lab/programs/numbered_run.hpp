#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/lab/programs/synthetic_work.hpp"
#include "tidemill/lab/sim/task_program.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

/// A program of which no more is known than its tasks' predecessors and times: each task computes a number
/// from those of its predecessors, and passes its time.
class NumberedRun {
  public:
    /// A run of the program with at most `window_iterations` in flight. Tasks take `time_factor` times what
    /// it says.
    NumberedRun(TaskProgram& program, std::uint64_t window_iterations, Pastime pastime, double time_factor);

    /// Spawns all tasks; with no `tasks`, runs them in order.
    void run(Tasks* tasks);

    /// Number that follows from the last tasks' numbers, and so from all; when nothing is in flight.
    std::uint64_t digest() const;

  private:
    struct NumberedTask;

    std::uint64_t& number_of(std::uint64_t task) { return numbers_[task % numbers_.size()]; }
    NumberedTask next_task(std::uint64_t number);
    void count_exclusions();

    TaskProgram& program_;
    Pastime pastime_;
    double time_factor_;
    std::vector<std::uint64_t> numbers_;  // of the last tasks
    std::vector<char> exclusions_;        // stand for what tasks must have for themselves
    ProgramTask task_;
};

}  // namespace tidemill
