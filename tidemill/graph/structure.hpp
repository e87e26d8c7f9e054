#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/graph/graph.hpp"

namespace tidemill {

/// A task of a graph, by its module's index and its own index in the module.
struct TaskId {
    std::uint32_t module;
    std::uint32_t task;

    bool operator==(const TaskId&) const = default;
};

/// Tasks that cannot be parted: scheduled as one.
struct Unit {
    std::string name;                  ///< "module.task", or "module.a+module.b" for several
    std::vector<std::uint32_t> tasks;  ///< positions in Structure::order, consecutive
    bool replicable;
};

/// A task in its place: what an executor needs to know besides the sockets.
struct OrderedTask {
    TaskId id;
    std::string name;        ///< "module.task"
    std::uint32_t segment;   ///< frames are numbered per segment
    bool ends_segment;       ///< outputs belong to the next segment
    std::uint64_t holes;     ///< the skips (bits) that keep this task from running
    std::uint64_t own_hole;  ///< the bit that this task sets when it skips; 0 when it may not
};

/// A checked graph in the order in which it runs.
struct Structure {
    std::vector<OrderedTask> order;
    std::vector<Unit> units;  ///< the chain that schedulers see
    std::uint32_t segments;
};

/// Checks the whole graph and orders it; throws GraphError with every fault that was found.
Structure structure_of(const Graph& graph);

}  // namespace tidemill
