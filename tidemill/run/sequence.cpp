#include "tidemill/run/sequence.hpp"

#include "tidemill/run/engine.hpp"

namespace tidemill {

Sequence::Sequence(Graph& graph)
    : engine_(
          std::make_unique<Engine>(graph, EngineCut{{EngineStage{{structure_of(graph).units.size(), 1}}}})) {}

Sequence::~Sequence() = default;

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
