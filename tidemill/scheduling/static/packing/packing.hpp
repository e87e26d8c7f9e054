#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemill::internal {

/// How many of each round's frames each thread has of a task: [thread].
using Letters = std::vector<std::uint8_t>;

/// Work to be packed on threads: the order of tasks does not matter.
struct PackingProblem {
    std::vector<std::size_t> kinds;               // [thread]; threads of a kind stand together
    std::vector<bool> halves;                     // [kind]: its threads have half a core each
    std::vector<std::vector<double>> weights_us;  // [task][kind], infinite where the task cannot run
    std::vector<bool> replicable;                 // [task]
    std::vector<double> prices;                   // [kind]: of a thread; what all threads cost together is 1
    double bound_us = 0;                          // no packing is shorter, and the search stops there
    std::size_t most_letters = 1;
    double effort = 1;  // of the usual number of steps and tries

    std::size_t threads() const { return kinds.size(); }
    std::size_t tasks() const { return weights_us.size(); }

    /// Weight of a task on a thread's core.
    double weight_us(std::size_t task, std::size_t thread) const { return weights_us[task][kinds[thread]]; }
};

/// Tasks of each thread.
struct Packing {
    std::vector<Letters> tasks;
    double period_us = 0;  // what the busiest thread has to do
};

/// Load of each thread for an execution.
std::vector<double> loads_of(const PackingProblem& problem, const std::vector<Letters>& tasks);

/// Each task where that makes the busiest thread least busy, the heaviest first.
Packing greedy_packing(const PackingProblem& problem);

/// A packing that is no longer than this one: found by annealing, with as many tries whatever the work.
Packing annealed(const PackingProblem& problem, Packing packing);

/// Makes the packing the best one there is; false where that would take too long to know.
bool make_exact(const PackingProblem& problem, Packing& packing);

/// Moves tasks to single threads where frames take less and no thread has more to do than `most_us`, one
/// after the other, as long as that helps.
void shorten_frames(const PackingProblem& problem, Packing& packing, double most_us);

/// Joins neighbouring tasks on the same threads, as long as that makes the period no longer.
void join_neighbours(const PackingProblem& problem, Packing& packing);

}  // namespace tidemill::internal
