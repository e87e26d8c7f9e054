#include "tidemill/runtime/execute/sequence.hpp"

#include <utility>

#include "tidemill/runtime/execute/engine.hpp"
#include "tidemill/runtime/execute/pipeline_cut.hpp"

namespace tidemill {

Sequence::Sequence(Graph& graph)
    : Executor(std::make_unique<Engine>(graph, cut_in_order(structure_of(graph)))) {}

EngineCut cut_in_order(const Structure& structure, const PuSet& cores) {
    EngineStage stage{{structure.units.size(), 1}};
    if (!cores.empty()) stage.cores = {cores};
    return {{std::move(stage)}};
}

}  // namespace tidemill
