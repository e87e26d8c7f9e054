#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// A unit of the graph as dynamic scheduling sees it: what one task does to one frame.
struct DynamicUnit {
    std::string name;
    bool sequential;
    bool may_wait;          ///< for what is outside the graph
    std::uint32_t segment;  ///< of the frames that it takes
    bool emits;             ///< it ends the segment: frames of the next one come from it
    /// Units of the same segment that come before it on each frame, and those it comes before; what
    /// follows from others is left out.
    std::vector<std::uint32_t> predecessors;
    std::vector<std::uint32_t> successors;
    policy::KindSet kinds = policy::kAnyKind;  ///< of cores that may run it
    /// Most frames that its only task takes at once, where it has them done elsewhere: so they come in order,
    /// one worker at a time.
    std::uint32_t batch = 1;
};

/// Compiles `graph` with each unit as a stage of its own, every socket with bytes of its own.
Plan compile_apart(const Graph& graph, const Structure& structure);

/// Units of a plan's stages for dynamic scheduling, in the plan's order. Throws GraphError when a unit
/// reaches over more than two segments.
///
/// Of two units the later one depends on the earlier one where both touch the same bytes and one writes
/// them; where both are sequential, so that nothing which can be seen from outside is done on a frame before
/// which the stream ends; and where the later one ends the segment.
std::vector<DynamicUnit> dynamic_units_of(const Graph& graph, const Structure& structure, const Plan& plan);

/// Confines each unit to the kinds that all of its tasks which `only` names may run on. Throws GraphError
/// for a name that the graph has not, and for a unit that is left without a kind among `there`.
void confine(std::vector<DynamicUnit>& units, const Structure& structure,
             const std::map<std::string, policy::KindSet>& only, policy::KindSet there);

}  // namespace tidemill
