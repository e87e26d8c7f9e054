#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/graph/plan.hpp"
#include "tidemill/run/durations.hpp"
#include "tidemill/run/observer.hpp"
#include "tidemill/run/part_steps.hpp"
#include "tidemill/run/run_options.hpp"
#include "tidemill/run/run_state.hpp"

namespace tidemill {

/// One thread's share of a plan: runs a stage (or one of its replicas) on batch after batch of frames.
class Worker {
  public:
    /// How a worker behaves besides what the plan says.
    struct Options {
        WaitMode pull = WaitMode::passive;  ///< waiting for input
        WaitMode push = WaitMode::passive;  ///< waiting for a free token
        bool statistics = true;
        std::vector<ThreadObserver*> observers{};  ///< with any of them, times are taken too
        std::function<bool()> stop_when{};         ///< asked before each source frame by the first worker
        FrameNumbers numbers{};                    ///< what tasks see of a frame's number
        std::uint32_t batch = 1;                   ///< frames per token
        std::vector<std::uint64_t> first_frames;   ///< per segment, the number of the first frame
        std::uint64_t source_end = TokenRing::kEndless;  ///< no source frame from there on
    };

    /// What a step took, in ticks.
    struct StepTimes {
        std::uint32_t step;  ///< in the plan
        Durations times;
    };

    /// `modules` are those that this worker's tasks run on, by the graph's indices.
    Worker(const Plan& plan, std::size_t stage, std::size_t replica, std::vector<Module*> modules,
           RunState& state, Options options);

    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs until the stream ends. Errors of tasks go to the RunState.
    void run();

    std::size_t stage() const { return stage_; }
    std::size_t replica() const { return replica_; }

    /// Of each of its steps; empty when statistics are off.
    const std::vector<StepTimes>& step_times() const { return step_times_; }
    const Durations& pull_waits() const { return pull_waits_; }
    const Durations& push_waits() const { return push_waits_; }
    const Durations& latencies() const { return latencies_; }  ///< of the frames that ended here

    /// Source frames that this worker began.
    std::uint64_t frames_begun() const { return begun_; }
    /// Frames that ended here after their last task.
    std::uint64_t frames_delivered() const { return delivered_; }
    /// Frames that ended here as holes.
    std::uint64_t frames_skipped() const { return skipped_; }

    /// One past the last frame of `segment` that this worker began or emitted; its first one when there is
    /// none.
    std::uint64_t next_frame(std::uint32_t segment) const;

  private:
    struct RunPart {
        std::uint32_t segment;
        std::uint32_t stage_index;
        bool last_of_segment;
        PartSteps steps;
        TokenCursor cursor;
        Token* open = nullptr;         // the batch that the part before is filling
        std::uint64_t next_frame = 0;  // that begins, or is emitted, here
        std::uint64_t frame = 0;       // that runs
        FrameContext context{};
    };

    void add_part(const Plan& plan, const Part& part, const std::vector<Module*>& modules);

    template <Watching kWatching>
    void run_stream();
    bool leads() const { return stage_ == 0 && replica_ == 0; }
    bool halting();
    void end_when_halting();
    bool begin_batch(Token& token);
    template <Watching kWatching>
    Token* take(const RunPart& part);
    template <Watching kWatching>
    Token* wait(const RunPart& part);
    template <Watching kWatching>
    std::uint64_t note_call(const RunPart& part, const RunStep& step, const FrameMark& mark, Flow flow,
                            std::uint64_t start);
    template <Watching kWatching>
    void process(std::size_t part, Token& token, std::uint32_t frame);
    template <Watching kWatching>
    void run_steps(std::size_t part, FrameMark& mark);
    template <Watching kWatching>
    Flow call(const RunPart& part, const RunStep& step);
    template <Watching kWatching>
    void emit(std::size_t part, const FrameMark& mark);
    template <Watching kWatching>
    Token& open_token(RunPart& part);
    void hand_on(std::size_t part, Token& token);
    void hand_on_open(std::size_t part);
    template <Watching kWatching>
    void finish(const RunPart& part, const FrameMark& mark);
    /// Whether the frame's further tasks are to run; throws when the task did not promise such a flow.
    bool obey(const RunPart& part, const RunStep& step, FrameMark& mark, Flow flow);
    void fail(const RunPart& part, const RunStep& step);

    std::size_t stage_;
    std::size_t replica_;
    std::size_t threads_;
    RunState& state_;
    Options options_;
    Arena scratch_;
    std::vector<RunPart> parts_;
    std::vector<StepTimes> step_times_;
    Durations pull_waits_;
    Durations push_waits_;
    Durations latencies_;
    std::uint64_t begun_ = 0;
    std::uint64_t delivered_ = 0;
    std::uint64_t skipped_ = 0;
    bool ending_ = false;
};

}  // namespace tidemill
