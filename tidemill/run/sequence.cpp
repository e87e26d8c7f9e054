#include "tidemill/run/sequence.hpp"

namespace tidemill {

Sequence::Sequence(Graph& graph) : engine_(graph, {{EngineStage{{structure_of(graph).units.size(), 1}}}}) {}

}  // namespace tidemill
