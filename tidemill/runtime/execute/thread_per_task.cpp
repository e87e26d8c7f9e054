#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill {

Schedule thread_per_task(const Graph& graph, int replicas) {
    return thread_per_task(structure_of(graph), replicas);
}

Schedule thread_per_task(const Structure& structure, int replicas) {
    Schedule schedule;
    for (const ScheduledUnit& unit : structure.units) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = schedule.task_names.size();
        stage.task_count = 1;
        stage.threads = unit.replicable ? replicas : 1;
        stage.pinning = Pinning::kLoose;
        schedule.task_names.push_back(unit.name);
    }
    return schedule;
}

}  // namespace tidemill
