#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// A task of a graph, by its module's index and its own index in the module.
struct TaskId {
    std::uint32_t module;
    std::uint32_t task;

    bool operator==(const TaskId&) const = default;
};

/// Tasks that cannot be parted: scheduled as one.
struct ScheduledUnit {
    std::string name;                  ///< "module.task", or "module.a+module.b" for several
    std::vector<std::uint32_t> tasks;  ///< positions in Structure::order, consecutive
    bool replicable;
    bool lacks_word;  ///< sequential only because nobody said that its tasks are pure: see Basis::silence
};

/// A task in its place: what an executor needs to know besides the sockets.
struct OrderedTask {
    TaskId id;
    std::string name;        ///< "module.task"
    std::uint32_t segment;   ///< frames are numbered per segment
    bool ends_segment;       ///< outputs belong to the next segment
    std::uint64_t holes;     ///< the skips (bits) that keep this task from running
    std::uint64_t own_hole;  ///< the bit that this task sets when it skips; 0 when it may not
    std::uint32_t firings;   ///< how often it runs per frame
    std::uint32_t branch =
        0;  ///< whose frames it runs on: of the source 0, of the task that ends segment s - 1, s
};

/// Where a segment has frames of several branches: those that its first task emits, and those that pass that
/// task by since others need them. Each frame has the bit of its branch among its holes, and each task those
/// of all others.
struct Branches {
    std::vector<std::uint64_t> bits{};  ///< per branch; none where each segment has frames of one branch
    std::uint64_t all = 0;              ///< these
    std::uint64_t last = 0;             ///< of the branches whose frames no task turns into those of another

    bool empty() const { return bits.empty(); }
};

/// Steps [begin, end) of an order.
struct StepRange {
    std::uint32_t begin;
    std::uint32_t end;

    bool empty() const { return begin == end; }
};

/// A switch or a loop: consecutive steps of an order that do not simply follow one another.
///
/// A switch is its commute, the paths, its select; a loop is its select, the head (which computes the control
/// value), its commute, the body.
struct Region {
    bool is_loop;
    StepRange steps;  ///< all of it
    std::uint32_t commute;
    std::uint32_t select;
    std::vector<StepRange> paths;  ///< of a switch; of a loop: the body
};

/// Tasks that run on the frames of a task with the word at_end behind the stream's last one.
struct EndOfStream {
    std::uint32_t step;         ///< of the first task that runs
    std::vector<bool> runs;     ///< per step: that task, and what follows from it
    std::vector<bool> follows;  ///< per step: that task, and what it depends on
};

/// How many frames may be in flight, so that a task finds what a later one has kept of an earlier frame.
struct FlightLimit {
    std::uint64_t frames = kEndless;  ///< of the first segment
    std::string task{};               ///< that reads it
};

/// A checked graph in the order in which it runs.
struct Structure {
    std::vector<OrderedTask> order;
    std::vector<ScheduledUnit> units;  ///< the chain that schedulers see
    std::uint32_t segments;
    std::vector<Region> regions;      ///< outer ones before those inside them
    std::vector<EndOfStream> ends{};  ///< in order
    Branches branches{};
    FlightLimit flight{};
};

/// Checks the whole graph and orders it; throws GraphError with every fault that was found.
Structure structure_of(const Graph& graph);

}  // namespace tidemill
