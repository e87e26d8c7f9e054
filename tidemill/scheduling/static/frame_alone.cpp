#include "tidemill/scheduling/static/frame_alone.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill {

double FrameAlone::period_us(double frames) const {
    return us / std::max(1.0, frames - waiting);
}

FrameAlone frame_alone(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    FrameAlone sum;
    for (const Stage& stage : schedule.stages) {
        double slowest_us = 0;
        for (const CoreCount& cores : stage.cores()) {
            Stage single = stage;
            single.word.reset();
            single.owners.clear();
            single.core_kind = cores.kind;
            single.threads = 1;
            Schedule one{.stages = {single}};
            slowest_us = std::max(slowest_us, stage_weights_us(one, chain, model).front());
        }
        const double executions = executions_per_batch(stage, chain);
        sum.us += slowest_us * executions;
        sum.waiting += executions - 1;
    }
    return sum;
}

double executions_per_batch(const Stage& stage, const Chain& chain) {
    double most = 1;
    for (const ChainTask& task : tasks_of(stage, chain)) {
        const BatchCost* cost = stage.batch ? batch_cost(task, stage.core_kind) : nullptr;
        if (cost && cost->frames > 0) most = std::max(most, std::ceil(*stage.batch / cost->frames));
    }
    return most;
}

}  // namespace tidemill
