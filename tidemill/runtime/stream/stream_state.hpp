#pragma once

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill {

/// State of a stream between two frames, put into a checkpoint. Throws ModuleError when a keep() throws.
Checkpoint kept_stream(const Graph& graph, const internal::StreamPosition& place, KnobBook& knobs);

/// The way back. Throws CheckpointError where the checkpoint is of another graph or a module cannot use what
/// it kept; then modules before that one have changed.
void restore_stream(const Checkpoint& checkpoint, const Graph& graph, internal::StreamPosition& place,
                    KnobBook& knobs);

}  // namespace tidemill
