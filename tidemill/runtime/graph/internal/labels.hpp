#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/socket.hpp"

namespace tidemill {
class Graph;
}

namespace tidemill::internal {

/// The sockets that give the label which a socket reads: of the tasks whose data come to its own within a
/// frame, those behind which none gives it again. One is what the socket reads; several contradict each
/// other.
std::vector<SocketRef> nearest_labels(const Graph& graph, std::size_t module, std::uint32_t socket);

}  // namespace tidemill::internal
