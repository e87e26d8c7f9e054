#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <vector>

#include "tidemill/bridge/stretch.hpp"
#include "tidemill/graph/arena.hpp"
#include "tidemill/run/again.hpp"
#include "tidemill/run/durations.hpp"
#include "tidemill/run/dynamic/dynamic_units.hpp"
#include "tidemill/run/dynamic/task_board.hpp"
#include "tidemill/run/dynamic/unit_ends.hpp"
#include "tidemill/run/observer.hpp"
#include "tidemill/run/part_steps.hpp"
#include "tidemill/run/run_options.hpp"

namespace tidemill {

/// Where the data of frames in flight lie.
struct FrameMemory {
    /// `tokens` and the bytes of each are given per segment.
    FrameMemory(const Plan& plan, const std::vector<DynamicUnit>& units,
                const std::vector<std::uint32_t>& tokens);

    std::vector<Arena> tokens;         ///< per segment
    std::vector<std::size_t> strides;  ///< per segment, bytes of a token
    /// Per unit that emits; what it has computed of a frame outlives the call that emits the first of
    /// several.
    std::vector<Arena> scratches;

    /// How far a unit that emits has come, where segments have frames of several branches.
    struct Emission {
        AgainAfterStop again{};
        std::uint64_t next_number = 0;
        bool must_pass = false;  ///< it has emitted all; now the frame itself passes it
    };
    std::vector<Emission> emissions;  ///< per unit
};

/// One thread of dynamic scheduling: runs tasks of any unit on any frame, as told.
class TaskWorker {
  public:
    struct Options {
        std::size_t index = 0;
        bool statistics = true;
        std::vector<ThreadObserver*> observers{};
        FrameNumbers numbers{};
        bool drops = false;                ///< frames may have been dropped where they began
        std::uint64_t deadline_ticks = 0;  ///< frames that take longer are late; 0: none
        std::function<void(const LateFrame&)> when_late{};
        const std::atomic<bool>* stopping = nullptr;
        std::stop_token stop{};                    ///< of the run
        const UnitEnds* ends = nullptr;            ///< where others end the stream
        internal::KnobTeller* teller = nullptr;    ///< for tasks in the source's segment
        std::optional<bridge::Stretch> stretch{};  ///< of calls, by their step; wants statistics
    };

    /// `modules` are those that this worker's tasks run on, by the graph's indices.
    TaskWorker(const Plan& plan, const std::vector<DynamicUnit>& units, const std::vector<Module*>& modules,
               FrameMemory& memory, TaskBoard& board, Options options);
    TaskWorker(const TaskWorker&) = delete;
    TaskWorker& operator=(const TaskWorker&) = delete;

    /// Runs tasks; where one of them ends the stream, this stands beside them afterwards. Called again, it
    /// goes on behind the task in which a forced unwind has ended it.
    void run(HeldRuns& held);

    /// A forced unwind ends the thread: observers see no more.
    void lose_thread() { options_.observers.clear(); }
    /// The thread does not come back from what it runs: called again, run() does nothing but end the stream.
    void give_up();

    /// It waits for work until it runs some, though it looks again from time to time.
    void rests();
    void rested(bool /*woken*/) {}

    const std::vector<Durations>& step_times() const { return step_times_; }  ///< per step; may be empty
    const std::vector<std::uint64_t>& late() const { return late_; }  ///< beside them, frames made late
    const Durations& waits() const { return waits_; }

  private:
    struct RunUnit {
        const DynamicUnit* unit;
        PartSteps steps;
        std::optional<PartSteps> behind_end;  // of a unit that emits: what it does to the frames emitted
        std::byte* scratch;
        bool begins_frames;
        FrameMemory::Emission* emission;
    };
    // A segment's tokens, beside the board's own words, which others write all the time.
    struct Tokens {
        FrameMark* marks;
        std::byte* data;
        std::size_t stride;
        std::uint32_t count;
        std::uint32_t knobs_at;
        std::uint32_t number_at;
    };
    // The frame that runs.
    struct Running {
        FrameMark* mark = nullptr;
        CarriedFrame carried{};
        std::uint32_t segment = 0;
    };

    void end_wait();
    template <Watching kWatching>
    void run_all(std::vector<TaskRun>& runs);
    template <Watching kWatching>
    void run_frames(TaskRun& run);
    template <Watching kWatching>
    bool run_frame(RunUnit& unit, TaskRun& run);
    template <Watching kWatching>
    void run_together(const RunStep& step, const DynamicUnit& unit, CarriedFrame first, std::uint64_t end);
    template <Watching kWatching>
    void call_batch(const RunStep& step);
    template <Watching kWatching>
    bool run_steps(PartSteps& steps);
    template <Watching kWatching>
    bool emit(RunUnit& unit, TaskRun& run);
    template <Watching kWatching>
    Flow emit_or_pass(RunUnit& unit, const TaskRun& run);
    template <Watching kWatching>
    Flow call_end(const RunStep& end, const TaskRun& run);
    Flow pass(const RunStep& end, const TaskRun& run);
    std::uint64_t number() const;
    void set_number(const TaskRun& run, std::uint64_t number);
    template <Watching kWatching>
    Flow call(const RunStep& step);
    template <Watching kWatching>
    void note_call(const RunStep& step, Flow flow, std::uint64_t start, std::uint64_t end);
    void note_late(const RunStep& step, std::uint64_t end);
    bool obey(const RunStep& step, Flow flow);
    void begin(std::uint32_t segment, CarriedFrame carried);
    std::byte* data_of(std::uint32_t segment, std::uint32_t token) const {
        return tokens_[segment].data + token * tokens_[segment].stride;
    }
    void look_up_knobs();
    std::vector<std::byte> knobs_of_frame() const;
    void hand_knobs_on(std::byte* to);
    void end_stream(std::uint32_t unit, std::optional<FrameFailure> failure);
    FrameFailure failure_here(std::exception_ptr cause) const;

    Options options_;
    bool has_knobs_;
    const Branches& branches_;
    std::vector<Tokens> tokens_;  // per segment
    Arena scratch_;
    std::vector<RunUnit> units_;
    internal::FrameContext context_{};
    Running running_;
    std::vector<internal::FrameContext> batch_;  // frames that a task takes at once
    std::vector<Running> batch_frames_;
    const RunStep* step_ = nullptr;  // that runs
    std::size_t begun_ = 0;          // of the runs that it holds
    std::vector<StreamEnd> ends_;    // there is room for one of each run
    std::vector<Durations> step_times_;
    std::vector<std::uint64_t> late_;
    Durations waits_;
    std::uint64_t wait_start_ = 0;  // 0: it does not wait
};

}  // namespace tidemill
