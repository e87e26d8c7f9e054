#pragma once

#include <string>
#include <vector>

#include "tidemill/lab/sim/stream_program.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// A chain as a program of tasks, one of each per iteration, and what they take on each kind of core.
struct ProfileStream {
    StreamGraph graph;
    std::vector<std::vector<double>> slowdowns;  ///< per task type and kind, against the graph's times
    std::vector<policy::KindSet> type_kinds;     ///< on which each may run
    std::vector<bool> sequential;                ///< those that are not replicable

    /// Workers, so many on each of the kinds, and their scheduling, both filled in for this program.
    void put_into(const std::vector<int>& cores, TaskMachine& machine, TaskScheduling& scheduling) const;
};

/// The chain's tasks with their weights on these kinds. Throws ScheduleError for a kind that the chain does
/// not weigh and for a task that runs on none of them.
ProfileStream profile_stream(const Chain& chain, const std::vector<std::string>& kinds);

}  // namespace tidemill
