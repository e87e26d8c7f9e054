#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/runtime/dynamic/batch_size.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/dynamic/frame_counts.hpp"
#include "tidemill/runtime/dynamic/frames_in_flight.hpp"
#include "tidemill/runtime/dynamic/stream_ends.hpp"
#include "tidemill/runtime/dynamic/task_run.hpp"
#include "tidemill/runtime/dynamic/unit_tasks.hpp"
#include "tidemill/runtime/threads/ready_tasks.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/unequal/placement.hpp"
#include "tidemill/scheduling/unequal/task_times.hpp"

namespace tidemill {

/// The bookkeeping of dynamic scheduling: which tasks of the frames in flight wait, are ready, run or are
/// done.
///
/// A frame of a segment is created when there is a token for it, and with it a task of each of the segment's
/// units; where tasks are short, several frames at once as a batch with one task of each. A policy chooses
/// among those whose predecessors are done. Knows no threads: callers take turns. After the constructor,
/// nothing allocates.
class TaskBoard {
  public:
    struct Settings {
        std::string policy = "gpriority";
        MakePolicy make_policy{};  ///< instead, where there is one
        policy::Adapting adapting{};
        std::vector<policy::KindId> kinds{0};       ///< of each worker's core
        std::vector<std::uint32_t> tokens{};        ///< per segment
        std::vector<std::uint64_t> first_frames{};  ///< per segment
        std::uint64_t frames = kEndless;            ///< of the source, at most
        std::function<bool()> stop_when{};          ///< asked before each source frame is created
        std::function<void(const CarriedFrame&, FrameMark&)>
            begin{};                     ///< called for each source frame before it is created
        std::uint64_t bundle_ticks = 0;  ///< work to hand out at once, at most; 0: single tasks
        bool latencies = false;
        Branches branches{};   ///< of the plan
        bool places = false;   ///< workers on several kinds of cores get what these are good at
        bool explores = true;  ///< and tasks are tried now and then where they are not at home
        std::vector<bridge::KnownTicks> known{};  ///< per unit, where its times are known ahead
        std::function<std::uint64_t()> now{};     ///< in ticks; asked where it places
    };

    /// The units must outlive this.
    TaskBoard(const std::vector<DynamicUnit>& units, Settings settings);
    TaskBoard(const TaskBoard&) = delete;
    TaskBoard& operator=(const TaskBoard&) = delete;

    /// Hands work to a worker: as many ready tasks, by the policy, as make up for asking, but no more than a
    /// fair share when `idle_peers` others want some too. Returns how long it may take there, in ticks.
    std::uint64_t take(policy::WorkerId worker, std::size_t idle_peers, std::vector<TaskRun>& runs);
    /// Takes back what take() handed out, and empties it. `now` is in ticks.
    void complete(policy::WorkerId worker, std::vector<TaskRun>& runs, std::uint64_t now);
    /// Ends the stream where the sequence would have ended it.
    void end(StreamEnd where) { ends_.end(std::move(where), frames_); }
    /// Creates no more frames, and lets those pass by of which no task has been issued.
    void halt() { ends_.halt(frames_[0]); }

    bool finished() const { return in_flight_ == 0; }
    /// Whether any ready task is for this worker now.
    bool may_take(policy::WorkerId worker) {
        return !placement_ || placement_->may_take(worker) || ready_.has_waiting(worker);
    }
    /// How long a worker that may take nothing waits at most before it may, if nothing happens; in ticks,
    /// where there is a placement.
    std::optional<std::uint64_t> patience_ticks(policy::WorkerId worker) const {
        return placement_ ? std::optional(placement_->patience_ticks(worker)) : std::nullopt;
    }
    /// Rule for which worker gets what; null where all may have anything.
    const bridge::Placement* placement() const { return placement_.get(); }
    /// Work that can be handed out. A task that never ran counts as a bundle.
    const ReadyWork& ready() const { return ready_.work(); }

    /// Per token of a segment.
    std::span<FrameMark> marks(std::uint32_t segment) { return frames_[segment].marks(); }

    const FrameCounts& counts() const { return counts_; }
    /// The number that each segment's next frame will have; where a task said stop, it is the frame before
    /// which it did.
    std::vector<std::uint64_t> next_frames() const;
    /// Whether a task has ended the stream.
    bool ended() const { return ends_.ended(); }
    /// The task that said stop, if that ended the stream.
    std::optional<StreamStop> stopped_by() const {
        return ends_.stopped() ? std::optional(ends_.stopped()->stop) : std::nullopt;
    }
    /// Throws the error that the sequence would have met, if any.
    void rethrow() const { ends_.rethrow(); }

  private:
    struct Segment {
        std::vector<std::uint32_t> units{};
        std::optional<policy::TaskSlot> blocked{};  // the task that ends the segment before waits for a token
    };

    UnitTasks& unit_of(policy::TaskSlot slot) { return units_[unit_of_slot_[slot]]; }
    FramesInFlight& frames_of(const UnitTasks& tasks) { return frames_[tasks.unit().segment]; }

    void add_unit(const DynamicUnit& unit);
    void learn_edges();
    std::uint64_t begun_holes() const {
        return settings_.branches.empty() ? 0 : settings_.branches.bits.front();
    }
    void create_source_frames();
    std::uint32_t begin_frames(std::uint32_t wanted);
    void create_batch(std::uint32_t segment, std::uint64_t iteration, std::uint32_t frames);
    void create_task(policy::TaskSlot slot, std::uint64_t iteration);
    void list_predecessors(policy::TaskSlot slot);
    void note_wait(policy::TaskSlot slot, UnitTasks::Wait wait);
    void make_ready(policy::TaskSlot slot);
    void tell_ready(policy::TaskSlot slot);
    TaskRun issue(policy::TaskSlot slot, policy::KindId kind, std::uint64_t ticks_left);
    std::uint64_t follow(policy::KindId kind, std::uint64_t expected, std::uint64_t most_ticks,
                         std::vector<TaskRun>& runs);
    bool may_follow(std::uint32_t unit, const TaskRun& run, policy::KindId kind) const;
    std::uint64_t longest_run(const TaskRun& run, policy::KindId kind, std::uint64_t ticks_left) const;
    std::uint64_t expected_ticks(const TaskRun& run, policy::KindId kind) const;
    void complete(policy::WorkerId worker, const TaskRun& run, std::uint64_t now);
    void repeat(policy::TaskSlot slot, std::uint64_t iteration);
    void complete_task(policy::TaskSlot slot, std::uint64_t now);
    void retire(std::uint32_t segment, std::uint64_t now);
    void note_left(FramesInFlight& frames, const CarriedFrame& carried, std::uint64_t now);

    static std::unique_ptr<policy::Policy> policy_of(const Settings& settings);
    static BatchSize batch_size_of(const std::vector<DynamicUnit>& units, const Settings& settings);
    static std::unique_ptr<bridge::Placement> placement_of(const std::vector<DynamicUnit>& units,
                                                           const Settings& settings);

    Settings settings_;
    std::unique_ptr<bridge::Placement> placement_;  // none where workers may have anything
    ReadyTasks ready_;
    std::vector<UnitTasks> units_;
    bridge::TaskTimes times_;  // of each unit's tasks
    std::vector<Segment> segments_;
    std::vector<FramesInFlight> frames_;       // per segment
    std::vector<std::uint32_t> unit_of_slot_;  // a unit's tasks lie side by side
    std::vector<policy::TaskSlot> predecessors_;
    std::uint64_t numbers_ = 0;
    std::uint64_t in_flight_ = 0;  // batches of all segments
    BatchSize batch_size_;
    StreamEnds ends_;
    FrameCounts counts_;
};

}  // namespace tidemill
