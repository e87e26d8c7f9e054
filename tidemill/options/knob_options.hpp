#pragma once

#include <string>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/knob.hpp"

namespace tidemill::cli {

/// Values for a graph's knobs from texts like "amp.gain=2" and "filter.taps=1,2,1"; throws WrongUsage, naming
/// the option --set, for a value that a knob does not take.
KnobSettings knob_settings(const std::vector<std::string>& texts, const Graph& graph);

}  // namespace tidemill::cli
