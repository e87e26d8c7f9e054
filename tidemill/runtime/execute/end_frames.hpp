#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/runtime/execute/engine_cut.hpp"
#include "tidemill/runtime/execute/stream_stop.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/report/run_totals.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"
#include "tidemill/runtime/threads/thread_pool.hpp"

namespace tidemill {

/// A stream whose end tasks are to see: where its frames stand, and the task that said stop, if anyone.
struct EndedStream {
    std::vector<std::uint64_t>& next_frames;  ///< per segment; goes on
    std::optional<StreamStop> stopped_by;
    KnobBook& knobs;
};

/// A stream of so many branches goes on from where it stands, or begins anew. Throws RunError when it has
/// ended, and its tasks have seen the end, or when the graph has grown since.
void begin_stream(internal::StreamPosition& place, const Graph& graph, std::size_t branches, bool anew);

/// Runs what comes behind a stream's last frame: each task with the word at_end is called, in order, and what
/// it gives goes the way of all frames. Where a task said stop, only those are called that follow from it:
/// how far others had come by then is nobody's business to know. Throws FrameError when a task throws.
void run_end_frames(Graph& graph, const Structure& structure, const EngineCut& cut, const RunOptions& options,
                    EndedStream stream, ThreadPool& pool, RunTotals& totals);

}  // namespace tidemill
