#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// Where the knobs of a graph lie in a table of all their values: the same in every plan.
struct KnobLayout {
    struct Place {
        std::uint32_t module;
        std::uint32_t socket;
        std::uint32_t offset;
        std::uint32_t bytes;
        std::string name;  ///< "module.knob"
    };

    std::vector<Place> places;  ///< in the order of the graph
    std::size_t bytes = 0;      ///< of a table; 0: there are no knobs

    /// The place of that name; throws GraphError naming those there are.
    const Place& named(std::string_view name) const;
    /// The place of a socket; throws GraphError where it is no knob of `graph`.
    const Place& of(const Graph& graph, SocketRef socket) const;
};

KnobLayout knob_layout_of(const Graph& graph);

}  // namespace tidemill
