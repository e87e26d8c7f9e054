#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// How deep the rings between stages may be, how many frames each place holds, and the latency that this
/// makes.
struct RingDepth {
    std::size_t depth = 1;     ///< for PipelineOptions::ring_depth
    std::uint32_t frames = 1;  ///< for PipelineOptions::frames
    double latency_us =
        0;  ///< mean, of frames that find the rings full; above what was wanted when 1 is too deep
};

/// The deepest rings with which a frame takes no longer than `wanted_us` on average, but at least 1.
///
/// Little's law: a frame that meets P tokens in flight, of which one leaves every T microseconds, takes P *
/// T. When the source is not what limits, all tokens of a segment are in flight: those that stages hold, one
/// per thread or as many as their words need, and the depth of each ring. Segments follow one another, so
/// their times add up. A slower source makes latencies shorter. Throws RunError when the report knows no
/// frames or the wanted latency is not positive.
RingDepth ring_depth_for(double wanted_us, const RunReport& report);

/// The same for a schedule that has not run yet, from the period that its profile promises; counts on one
/// frame out per source frame everywhere, and on full batches under way in stages on devices. Where a hop
/// takes `hop_us`, as many frames go together as it takes to keep that below a hundredth of the time, as far
/// as the wanted latency allows.
RingDepth ring_depth_for(double wanted_us, const Schedule& schedule, const Profile& profile,
                         double hop_us = 0);

}  // namespace tidemill
