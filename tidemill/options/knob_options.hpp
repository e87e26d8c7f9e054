#pragma once

#include <string>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/knob.hpp"

namespace tidemill::cli {

/// What texts like "amp.gain=2" and "filter.taps=1,2,1" say of a graph's knobs; throws WrongUsage, naming the
/// option --set, for what they cannot be set to.
KnobSettings knob_settings(const std::vector<std::string>& texts, const Graph& graph);

}  // namespace tidemill::cli
