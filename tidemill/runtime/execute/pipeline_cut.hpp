#pragma once

#include "tidemill/runtime/execute/engine_cut.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"

namespace tidemill {

/// How a pipeline runs a graph by a schedule. Throws as Pipeline's constructor does.
EngineCut cut_of(const Graph& graph, const Schedule& schedule, const PipelineOptions& options);

/// All of a graph on one thread, pinned where there are cores.
EngineCut cut_in_order(const Structure& structure, const PuSet& cores = {});

}  // namespace tidemill
