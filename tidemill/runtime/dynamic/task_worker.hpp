#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic_units.hpp"
#include "tidemill/runtime/dynamic/task_board.hpp"
#include "tidemill/runtime/dynamic/unit_ends.hpp"
#include "tidemill/runtime/execute/frame_runner.hpp"
#include "tidemill/runtime/execute/gathered_frames.hpp"
#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/scheduling/unequal/stretch.hpp"

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

    std::vector<Emission> emissions;  ///< per unit
};

/// One thread of dynamic scheduling: runs tasks of any unit on any frame, as handed out.
class TaskWorker {
  public:
    struct Options {
        std::size_t index = 0;
        WorkerNotes::Options notes{};
        bool drops = false;  ///< frames may have been dropped where they began
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
    void lose_thread() { notes_.forget_observers(); }
    /// The thread does not come back from what it runs: called again, run() does nothing but end the stream.
    void give_up();

    /// It waits for work until it runs some, though it looks again from time to time.
    void rests();
    void rested(bool /*woken*/) {}

    const WorkerNotes& notes() const { return notes_; }

  private:
    struct RunUnit {
        const DynamicUnit* unit;
        FramePart part;
        std::optional<FramePart> behind_end;  // of a unit that emits: what it does to the frames emitted
        bool begins_frames;
        Emission* emission;
    };
    // A segment's tokens, beside the board's own words, which others write all the time.
    struct Tokens {
        FrameMark* marks;
        std::byte* data;
        std::size_t stride;
        std::uint32_t count;
        TokenWords words;
    };
    // The frame that runs.
    struct Running {
        FrameMark* mark = nullptr;
        CarriedFrame carried{};
        std::uint32_t segment = 0;
    };

    template <Watching kWatching>
    class Tasks;

    void end_wait();
    FramePart part_of(const Plan& plan, std::size_t unit, const Part& part, std::byte* scratch,
                      const std::vector<Module*>& modules);
    std::byte* data_of(std::uint32_t segment, std::uint32_t token) const {
        return tokens_[segment].data + token * tokens_[segment].stride;
    }

    Options options_;
    WorkerNotes notes_;
    const Branches& branches_;
    std::vector<Tokens> tokens_;  // per segment
    Arena scratch_;
    std::vector<RunUnit> units_;
    Running running_;
    GatheredCall batch_;  // frames that a task takes at once
    std::vector<Running> batch_frames_;
    std::size_t begun_ = 0;         // of the runs that it holds
    std::vector<StreamEnd> ends_;   // there is room for one of each run
    std::uint64_t wait_start_ = 0;  // 0: it does not wait
};

}  // namespace tidemill
