#pragma once

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// How a frame goes through the stages of a schedule when it waits for nobody but its batches.
struct FrameAlone {
    double us = 0;       ///< each stage in turn, on one thread; in a mixed stage, on its slowest
    double waiting = 0;  ///< frames that come before it, or behind it, in the batches that it waits for

    /// The least period with so many frames in flight.
    double period_us(double frames) const;
};

/// Times of a frame on a device are those of its batch.
FrameAlone frame_alone(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

/// Executions that a batch of a stage on a device may cover; 1 where it takes none.
double executions_per_batch(const Stage& stage, const Chain& chain);

}  // namespace tidemill
