#pragma once

#include <cstddef>
#include <vector>

#include "tidemill/scheduling/static/packing/packing.hpp"

namespace tidemill::internal {

inline constexpr double kPackingRounding = 1e-12;

/// Frames in a round.
unsigned letters_in(const Letters& letters);

/// All frames on one thread.
Letters only(const PackingProblem& problem, std::size_t thread);

/// Whether a task can be done so.
bool may_have(const PackingProblem& problem, std::size_t task, const Letters& letters);

/// Load of the busiest thread.
double busiest(const std::vector<double>& loads_us);

/// Time of a frame of the task on the slowest of its threads.
double slowest_us(const PackingProblem& problem, std::size_t task, const Letters& letters);

/// Adds what threads have to do for a task; or, with -1, takes it away.
void add_load(const PackingProblem& problem, std::size_t task, const Letters& letters, double sign,
              std::vector<double>& loads_us);

/// The heaviest on their best kinds first; replicable ones, which may fill what is left, behind the others.
std::vector<std::size_t> heaviest_first(const PackingProblem& problem);

}  // namespace tidemill::internal
