#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/internal/links.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::internal {

/// A switch or a loop of a graph, by its nodes.
struct ControlNodes {
    bool is_loop;
    std::string name;
    std::uint32_t commute;
    std::uint32_t select;
    std::vector<std::vector<std::uint32_t>> path_readers;  ///< per path of a switch: readers of its output
};

/// Tasks and what ties them together.
struct OrderProblem {
    std::vector<std::string> names;       ///< per node
    Links forward;                        ///< data within a frame and turn: no cycles
    Links all;                            ///< the same, and data that comes back for a loop's next turn
    std::vector<std::uint32_t> together;  ///< per node, one that must be in the same unit
    std::vector<bool> ends_segment;       ///< per node
    std::vector<ControlNodes> controls;
};

/// Nodes in the order in which they run.
struct LinearOrder {
    std::vector<std::uint32_t> nodes;
    std::vector<StepRange> units;
    std::vector<Region> regions;
    std::vector<std::string> faults;
};

/// Orders nodes by dependence and then by number, what ends a segment as late as it may; keeps units, loops
/// and the paths of switches in one piece.
LinearOrder linear_order(const OrderProblem& problem);

}  // namespace tidemill::internal
