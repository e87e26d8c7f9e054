#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "tidemill/runtime/execute/dropped_frames.hpp"
#include "tidemill/runtime/execute/frame_runner.hpp"
#include "tidemill/runtime/execute/gathered_frames.hpp"
#include "tidemill/runtime/execute/run_state.hpp"
#include "tidemill/runtime/execute/stage_walk.hpp"
#include "tidemill/runtime/execute/stream_stop.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill {

/// One thread's share of a plan: runs a stage (or one of its replicas) on batch after batch of frames.
class Worker {
  public:
    /// How a worker behaves besides what the plan says.
    struct Options {
        WaitMode pull = WaitMode::passive;  ///< waiting for input
        WaitMode push = WaitMode::passive;  ///< waiting for a free token
        Turns turns{1};                     ///< of the stage's threads
        WorkerNotes::Options notes{};
        std::function<bool()> stop_when{};        ///< asked before each source frame by the first worker
        std::uint32_t batch = 1;                  ///< frames per token
        std::uint32_t gather = 1;                 ///< frames that its only task waits for, of several tokens
        double gather_wait_us = 0;                ///< how long
        std::vector<std::uint64_t> first_frames;  ///< per segment, the number of the first frame
        std::uint64_t source_end = kEndless;      ///< no frame of the first segment from there on
        std::uint32_t first_segment = 0;          ///< frames begin here
        std::uint32_t first_branch = 0;           ///< of this branch
        std::uint64_t begun_holes = 0;            ///< with these
        bool tells_end = false;                   ///< behind the stream's last frame
        bool delivers = true;                     ///< whether frames behind the last task count as delivered
        KnobBook* knobs = nullptr;                ///< of a graph that has some
        internal::KnobTeller* teller = nullptr;   ///< for tasks in the source's segment
        KnobTable* end_knobs = nullptr;           ///< the same at the stream's end
        Late late = Late::wait;                   ///< what becomes of source frames that find no token
        const JournalRecord* replay = nullptr;    ///< whose dropped frames are dropped again
        Journal* journal = nullptr;               ///< gets the dropped frames
        std::stop_token stop{};                   ///< of the run: an endless task does not say again for ever
    };

    /// `modules` are those that this worker's tasks run on, by the graph's indices.
    Worker(const Plan& plan, std::size_t stage, std::size_t replica, std::vector<Module*> modules,
           RunState& state, Options options);

    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs until the stream ends. Errors of tasks go to the RunState.
    void run();

    /// The same step by step, for a thread that has other stages, too: StageWalk::step().
    std::function<WalkStep()> steps();

    /// The thread ends here, by a forced unwind or for `why`; call run() or steps() again to hand its tokens
    /// on. Where that is noted as the end of the stream, it began in a task on this thread.
    void lose_thread(bool is_noted, const std::exception_ptr& why);
    bool has_lost_thread() const { return lost_thread_; }

    /// Such a thread has waited for any of its stages.
    void note_wait(std::uint64_t ticks) { notes_.add_wait(ticks); }

    std::size_t stage() const { return stage_; }
    std::size_t replica() const { return replica_; }

    const WorkerNotes& notes() const { return notes_; }

    /// Each stop that one of its tasks said.
    const std::vector<StreamStop>& stops() const { return stops_; }

    /// Source frames that this worker began.
    std::uint64_t frames_begun() const { return begun_; }
    /// Those of them that were dropped where they began.
    std::uint64_t frames_dropped() const { return dropped_.count(); }
    /// Frames that ended here after their last task.
    std::uint64_t frames_delivered() const { return delivered_; }
    /// Frames that ended here as holes.
    std::uint64_t frames_skipped() const { return skipped_; }

    /// One past the last frame of `branch` that this worker began or emitted; its first one when there is
    /// none.
    std::uint64_t next_frame(std::uint32_t branch) const;

  private:
    /// Work on the frames of one segment.
    struct Share : FramePart {
        bool begins = false;    // source frames
        bool delivers = false;  // frames that are through it have left the graph
        Emission emission{};
    };

    template <Watching kWatching>
    class Tasks;

    template <typename Use>
    auto with_tasks(Use use);
    std::vector<Part> planned_parts(const Plan& plan) const;
    std::vector<StageWalk::Part> walked_parts() const;
    bool begins_frames() const;
    StageWalk::Options walk_options() const;
    bool drops() const { return options_.late != Late::wait || options_.replay; }
    std::uint32_t most_together() const;
    std::uint32_t most_under_way() const;
    const StageWalk::Part& walked(const Share& share) const {
        return walk_.part(static_cast<std::size_t>(&share - shares_.data()));
    }
    std::vector<Share> shares_of(const Plan& plan, const std::vector<Module*>& modules);
    Share share_of(const Plan& plan, const Part& part, const std::vector<Module*>& modules);

    std::size_t stage_;
    std::size_t replica_;
    RunState& state_;
    Options options_;
    const Branches& branches_;
    std::vector<Part> planned_;  // from the first segment on
    Arena scratch_;
    StageWalk walk_;
    std::optional<KnobBook::Beginner> knobs_;
    std::vector<Share> shares_;  // beside the walk's parts
    GatheredFrames gathered_;
    std::optional<FrameFailure> error_;
    bool lost_thread_ = false;  // a forced unwind has ended what it did
    std::vector<StreamStop> stops_;
    WorkerNotes notes_;
    std::uint64_t begun_ = 0;
    DroppedFrames dropped_;
    std::uint64_t delivered_ = 0;
    std::uint64_t skipped_ = 0;
};

}  // namespace tidemill
