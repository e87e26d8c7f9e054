#pragma once

#include <string>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// 16 hexadecimal digits that distinguish graphs: they follow from the modules, their sockets and tasks, and
/// the bindings, not from names of the graph or constant data.
std::string identity_of(const Graph& graph);

}  // namespace tidemill
