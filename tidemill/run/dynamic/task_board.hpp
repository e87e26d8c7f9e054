#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/policy/policy.hpp"
#include "tidemill/run/durations.hpp"
#include "tidemill/run/dynamic/frames_in_flight.hpp"
#include "tidemill/run/dynamic/kernels.hpp"
#include "tidemill/run/dynamic/mean_ticks.hpp"
#include "tidemill/run/dynamic/ready_work.hpp"
#include "tidemill/run/dynamic/task_run.hpp"

namespace tidemill {

/// The bookkeeping of dynamic scheduling: which tasks of the frames in flight wait, are ready, run or are
/// done.
///
/// A frame of a segment is created when there is a token for it, and with it a task of each of the segment's
/// kernels. A policy chooses among those whose predecessors are done. Knows no threads: callers take turns.
/// After the constructor, nothing allocates.
class TaskBoard {
  public:
    struct Settings {
        std::string policy = "gpriority";
        policy::Adapting adapting{};
        std::vector<policy::KindId> kinds{0};        ///< of each worker's core
        std::vector<std::uint32_t> tokens{};         ///< per segment
        std::vector<std::uint64_t> first_frames{};   ///< per segment
        std::uint64_t frames = TokenRing::kEndless;  ///< of the source, at most
        std::function<bool()> stop_when{};           ///< asked before each source frame is created
        std::uint64_t bundle_ticks = 0;              ///< work to hand out at once, at most; 0: single tasks
        bool latencies = false;
    };

    /// The kernels must outlive this.
    TaskBoard(const std::vector<Kernel>& kernels, Settings settings);
    TaskBoard(const TaskBoard&) = delete;
    TaskBoard& operator=(const TaskBoard&) = delete;

    /// Hands work to a worker: as many ready tasks, by the policy, as make up for asking, but no more than a
    /// fair share when `hungry` others want some too.
    void take(policy::WorkerId worker, std::size_t hungry, std::vector<TaskRun>& runs);
    /// Takes back what take() handed out, and empties it. `now` is in ticks.
    void complete(policy::WorkerId worker, std::vector<TaskRun>& runs, std::uint64_t now);
    /// Ends the stream where the sequence would have ended it.
    void end(StreamEnd where);
    /// Creates no more frames, and lets those pass by of which no task has been issued.
    void halt();

    bool finished() const { return in_flight_ == 0; }
    /// What can be handed out. A task that never ran counts as a bundle.
    const ReadyWork& ready() const { return ready_; }
    std::uint64_t expected_ticks(const std::vector<TaskRun>& runs) const;

    /// Per token of a segment.
    std::span<FrameMark> marks(std::uint32_t segment) { return segments_[segment].frames.marks(); }

    std::uint64_t begun() const { return begun_; }
    std::uint64_t delivered() const { return delivered_; }
    std::uint64_t skipped() const { return skipped_; }
    const Durations& latencies() const { return latencies_; }
    /// The number that each segment's next frame will have.
    std::vector<std::uint64_t> next_frames() const;
    /// Throws the error that the sequence would have met, if any.
    void rethrow() const;

  private:
    struct Segment {
        FramesInFlight frames;
        std::vector<std::uint32_t> kernels{};
        std::optional<policy::TaskSlot> blocked{};  // the task that ends the segment before waits for a token
    };
    struct KernelState {
        const Kernel* kernel;
        std::uint32_t first_slot;  // its tasks' slots are [first, end)
        std::uint32_t end_slot;
        std::uint32_t ready_place;     // where its ready tasks are counted
        bool goes_on;                  // who runs a task of it may go on with the next one
        policy::TaskSlot next_slot;    // of a sequential one: that of its first frame that is not done
        std::uint64_t next_frame = 0;  // of a sequential one: the first that is not done
        MeanTicks mean_ticks{};
        std::uint64_t lined_up = 0;  // where it goes on: tasks that wait for the one before them alone
        policy::TaskSlot ready = policy::kNoTask;
        bool resumes = false;  // its last task said again
    };
    struct TaskState {
        std::uint32_t kernel = 0;
        std::uint32_t token = 0;
        std::uint64_t ready_ticks = 0;  // what it counts for, with those lined up behind it
    };

    policy::TaskSlot slot_of(std::uint32_t kernel, std::uint32_t token) const;
    policy::TaskSlot slot_after(const KernelState& kernel, policy::TaskSlot slot) const;
    std::uint64_t frame_of(const TaskState& task) const;
    void add_kernel(const Kernel& kernel);
    void learn_edges();
    void create_source_frames();
    void create_frame(std::uint32_t segment, std::uint64_t iteration);
    void create_task(policy::TaskSlot slot, std::uint64_t iteration);
    void list_predecessors(const TaskState& task);
    void make_ready(policy::TaskSlot slot);
    void tell_ready(policy::TaskSlot slot);
    void note_fewer_waits(std::uint32_t kernel, std::uint32_t token);
    TaskRun issue(policy::TaskSlot slot);
    void lengthen(TaskRun& run, std::uint64_t ticks_left);
    void complete(policy::WorkerId worker, const TaskRun& run, std::uint64_t now);
    void complete_task(policy::TaskSlot slot, bool last_of_run, std::uint64_t now);
    void retire(std::uint32_t segment, std::uint64_t now);

    static constexpr std::size_t kMostRuns = 64;
    static constexpr std::uint32_t kLongestRun = 64;

    Settings settings_;
    std::unique_ptr<policy::Policy> policy_;
    bool wants_predecessors_;
    std::vector<KernelState> kernels_;
    std::vector<Segment> segments_;
    // Per slot. A kernel's tasks lie side by side, because they are often handed out so.
    std::vector<TaskState> tasks_;
    std::vector<std::uint32_t> waits_for_;  // predecessors
    std::vector<policy::TaskSlot> predecessors_;
    std::uint64_t numbers_ = 0;
    std::uint64_t in_flight_ = 0;   // frames of all segments
    std::uint64_t issued_end_ = 0;  // one past the last source frame of which a task was issued
    ReadyWork ready_;
    std::uint64_t begun_ = 0;
    std::uint64_t delivered_ = 0;
    std::uint64_t skipped_ = 0;
    Durations latencies_;
    std::optional<StreamEnd> end_;
};

}  // namespace tidemill
