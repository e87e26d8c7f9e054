#pragma once

#include <cstdint>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/report/run_totals.hpp"

namespace tidemill {

class StreamRun;

/// How a stretch of a stream ended.
enum class StretchEnd : std::uint8_t {
    open,     ///< the stream may go on: the stretch was halted, or has begun as many frames as it was to
    wanted,   ///< the caller wants no more of the run
    by_task,  ///< a task has ended the stream
};

/// Result of a stretch of a stream.
struct Stretch {
    RunReport report{};
    RunTotals totals{};
    StretchEnd end = StretchEnd::open;
};

/// Runner of a stretch of a stream; others may have run the one before, and run the next.
class StretchRunner {
  public:
    virtual ~StretchRunner() = default;

    /// Runs until the stream ends, `options.frames` have begun, or halt(); throws what the run throws.
    virtual Stretch run_stretch(const RunOptions& options, StreamRun& stream) = 0;

    /// Behind the last stretch, which this one has run: the frames of tasks that see the stream's end, if a
    /// task ended it or `options.finish` says so.
    virtual void end_stream(const RunOptions& options, StreamRun& stream, RunTotals& totals) = 0;

    /// The stretch ends between two frames soon; from any thread.
    virtual void halt() = 0;

    /// The graph in order, with its units and segments.
    virtual const Structure& structure() const = 0;
};

}  // namespace tidemill
