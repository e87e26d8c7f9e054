#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill {

class LostMarks;

/// A stage of a cut: how many units it takes, and how many threads run it.
struct StageCut {
    std::size_t units;
    std::size_t threads;
};

/// Bytes to copy from one address to another.
struct Copy {
    internal::Address from;
    internal::Address to;
    std::uint32_t bytes;              ///< at most
    std::uint32_t element_bytes = 0;  ///< of a socket that varies: only what it holds is copied
};

/// No step: the part ends here.
inline constexpr std::uint32_t kNoStep = 0xffffffff;

/// Action of a task of a switch or loop. The state of a region is the path that was opened last; of a loop, 0
/// before its first turn and 1 during the later ones.
struct ControlStep {
    internal::ControlKind kind = internal::ControlKind::none;
    std::uint32_t region = 0;            ///< whose state it reads or sets
    std::vector<Copy> inputs;            ///< select: what to copy in each state
    internal::Address control{};         ///< commute: where the control value is
    std::vector<std::uint32_t> targets;  ///< commute: the next step for each state
};

/// Passage of a frame of another branch at the task that ends its segment: it goes on as it is.
struct Passage {
    std::uint64_t branch;      ///< the bit of its branch
    std::vector<Copy> copies;  ///< what later tasks need of it
};

/// A label that a task reads. Where it runs several times per frame, each firing reads that of the firing of
/// the owner from which its first element came.
struct LabelRead {
    std::uint32_t socket;
    std::uint32_t owner_firings;
};

/// Marks of another task that a task reads: each of its firings those on its own elements.
struct MarksRead {
    /// The lists of one task, a firing after the other.
    struct Lists {
        internal::Address at;        ///< of the first firing's
        std::uint32_t bytes;         ///< from one firing's to the next one's
        std::uint32_t firings;       ///< per frame
        std::uint32_t elements;      ///< per firing, of the socket that is marked
        std::uint32_t capacity = 0;  ///< of a list
        std::uint32_t overlap = 0;   ///< elements before these, of frames before
    };
    Lists from;
    Lists to;
    std::uint32_t mark_bytes;
    std::atomic<std::uint64_t>* lost;  ///< counts those for which the reader has no room
};

/// A task of the compiled plan.
struct Step {
    OrderedTask task;
    std::uint32_t next;          ///< the step after this one; kNoStep at the end of the part
    std::uint32_t next_at_hole;  ///< the same when a skip keeps this one from running
    ControlStep control;
    std::vector<Copy> before;   ///< forwards whose data others still need; outputs that vary begin empty
    std::vector<Copy> on_emit;  ///< what later segments need of this one, copied into each frame emitted
    std::vector<Passage> passages{};  ///< of a task that ends a segment: whose frames pass it by
    std::vector<LabelRead> labels{};
    std::vector<MarksRead> marks{};
    bool told_of_end = false;  ///< of a plan for the stream's end: the first task that runs
};

/// The steps of one segment that one stage runs.
struct Part {
    std::uint32_t segment;
    std::uint32_t first_step;
    std::uint32_t last_step;    ///< one past the end
    std::uint32_t stage_index;  ///< how many stages of the segment come before this one
};

/// Consecutive units that the same threads run.
struct PlannedStage {
    std::size_t threads;
    std::vector<Part> parts;    ///< one per segment that the stage touches
    std::size_t scratch_bytes;  ///< per thread
};

/// Frames between two tasks that skip or repeat.
struct PlannedSegment {
    std::uint32_t stages;  ///< how many stages its tokens pass through
    std::size_t token_bytes;
    std::uint32_t knobs_at =
        0;  ///< where a token says which values of knobs it began under, if there are any
    std::uint32_t number_at = 0;  ///< where a token of one with several branches holds a frame's number
};

/// A graph compiled for a cut into stages: tasks in order, every socket resolved to base and offset.
struct Plan {
    std::vector<Step> steps;
    std::vector<PlannedStage> stages;
    std::vector<PlannedSegment> segments;
    std::vector<internal::AddressTable> addresses;  ///< per module
    Arena constants;
    Branches branches{};
    bool has_knobs = false;
    std::uint32_t regions;                    ///< switches and loops
    std::shared_ptr<LostMarks> lost_marks{};  ///< the same
};

/// How sockets lie in a token.
enum class Layout : std::uint8_t {
    shared,  ///< they share bytes where stages work on a frame one after the other
    apart,   ///< each has bytes of its own, so that stages which do not depend on each other may overlap
};

/// Compiles `graph` for stages that take its units in order; throws GraphError when they do not add up
/// or when a stage with a sequential task is given more than one thread.
Plan compile(const Graph& graph, const Structure& structure, const std::vector<StageCut>& stages,
             Layout layout = Layout::shared);

}  // namespace tidemill
