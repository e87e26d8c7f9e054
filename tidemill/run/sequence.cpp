#include "tidemill/run/sequence.hpp"

#include <utility>

#include "tidemill/run/engine.hpp"
#include "tidemill/run/pipeline_cut.hpp"

namespace tidemill {

Sequence::Sequence(Graph& graph)
    : engine_(std::make_unique<Engine>(graph, cut_in_order(structure_of(graph)))) {}

EngineCut cut_in_order(const Structure& structure, const PuSet& cores) {
    EngineStage stage{{structure.units.size(), 1}};
    if (!cores.empty()) stage.cores = {cores};
    return {{std::move(stage)}};
}

// One that runs is stopped; one that runs this is left as it is.
Sequence::~Sequence() {
    if (!engine_->end_run()) engine_.release();
}

RunReport Sequence::run(const RunOptions& options) {
    return engine_->run(options);
}

RunReport Sequence::resume(const RunOptions& options) {
    return engine_->resume(options);
}

const Graph& Sequence::graph() const {
    return engine_->graph();
}

SetAt Sequence::set(const KnobSettings& settings) {
    return engine_->set(settings);
}

Checkpoint Sequence::checkpoint() {
    return engine_->checkpoint();
}

const Structure& Sequence::structure() const {
    return engine_->structure();
}

}  // namespace tidemill
