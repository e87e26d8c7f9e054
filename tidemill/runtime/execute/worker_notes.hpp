#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/execute/part_steps.hpp"
#include "tidemill/runtime/execute/stage_walk.hpp"
#include "tidemill/runtime/report/durations.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

/// Notes of one thread of a run on its work: how long tasks, waits and frames took, and which tasks made
/// frames late.
class WorkerNotes {
  public:
    struct Options {
        bool statistics = true;
        std::vector<ThreadObserver*> observers{};  ///< with any of them, times are taken too
        FrameNumbers numbers{};                    ///< what they see of a frame's number
        std::uint64_t deadline_ticks = 0;          ///< frames that take longer are late; 0: none
        std::function<void(const LateFrame&)> when_late{};
    };

    /// Time of a step, in ticks.
    struct StepTimes {
        std::uint32_t step;  ///< in the plan
        Durations times{};
        std::uint64_t late = 0;  ///< frames that it made late
    };

    explicit WorkerNotes(Options options) : options_(std::move(options)) {}

    Watching watching() const {
        if (!options_.observers.empty()) return Watching::calls;
        return options_.statistics ? Watching::times : Watching::nothing;
    }

    /// A step that the thread is going to run; in the plan's order.
    void add_step(std::uint32_t step) {
        if (watching() != Watching::nothing) steps_.push_back({step});
    }

    /// Adds a wait of a thread with several stages.
    void add_wait(std::uint64_t ticks) {
        if (watching() != Watching::nothing) pull_waits_.add(ticks);
    }

    /// A thread that takes any work begins to wait for some, and has waited since that tick.
    void rests() const {
        for (ThreadObserver* observer : options_.observers) observer->waiting(0, false);
    }
    void rested(std::uint64_t since) {
        const std::uint64_t end = ticks();
        pull_waits_.add(end - since);
        for (ThreadObserver* observer : options_.observers) observer->waited({0, 0, false, since, end});
    }

    /// They see no more.
    void forget_observers() { options_.observers.clear(); }

    /// Empty when nothing is watched.
    const std::vector<StepTimes>& steps() const { return steps_; }
    const Durations& pull_waits() const { return pull_waits_; }
    const Durations& push_waits() const { return push_waits_; }
    const Durations& latencies() const { return latencies_; }  ///< of the frames that ended here

  private:
    template <typename Marks, Watching kWatching>
    friend class WorkerWatch;

    StepTimes& times_of(const RunStep& step) { return steps_[step.index - steps_.front().step]; }

    // The task that runs when the deadline passes made the frame late, also where it was waited for before.
    template <typename Marks>
    void note_late(const RunStep& step, const internal::FrameContext& frame, FrameMark& mark,
                   std::uint64_t end) {
        if (options_.deadline_ticks == 0) return;
        const std::uint64_t born = Marks::born(mark);
        if ((born & kToldLate) || end - born <= options_.deadline_ticks || !Marks::note_late(mark)) return;
        ++times_of(step).late;
        if (options_.when_late) options_.when_late({frame.number, step.step->task.name});
    }

    Options options_;
    std::vector<StepTimes> steps_;
    Durations pull_waits_;
    Durations push_waits_;
    Durations latencies_;
};

/// Writes notes, and notifies observers, as much as is wanted: what nobody looks at costs nothing.
template <typename Marks, Watching kWatching>
class WorkerWatch {
  public:
    explicit WorkerWatch(WorkerNotes& notes) : notes_(notes) {}

    static std::uint64_t stamp() {
        if constexpr (kWatching != Watching::nothing) return ticks();
        return 0;
    }

    /// A call is about to begin.
    void calling(const RunStep& step, std::uint64_t frame) const {
        if constexpr (kWatching == Watching::calls) {
            for (ThreadObserver* observer : notes_.options_.observers)
                observer->calling(step.step->task, frame);
        }
    }

    /// A call that began at `start` is over. Returns the tick from which the next one is to be counted: what
    /// observers take is nobody's time.
    std::uint64_t called(const RunStep& step, const internal::FrameContext& frame, FrameMark& mark, Flow flow,
                         std::uint64_t start) {
        if constexpr (kWatching == Watching::nothing) return 0;
        const std::uint64_t end = ticks();
        notes_.times_of(step).times.add(end - start);
        notes_.template note_late<Marks>(step, frame, mark, end);
        if constexpr (kWatching != Watching::calls) return end;
        tell(step, frame, mark, flow, start, end);
        return ticks();
    }

    /// The same for a call of several frames, each of which took its share of it.
    void called(const RunStep& step, std::span<const internal::FrameContext> frames,
                std::span<FrameMark* const> marks, std::uint64_t start) {
        if constexpr (kWatching == Watching::nothing) return;
        const std::uint64_t end = ticks();
        const std::uint64_t each = (end - start) / frames.size();
        for (std::size_t i = 0; i < frames.size(); ++i) {
            notes_.times_of(step).times.add(each);
            notes_.template note_late<Marks>(step, frames[i], *marks[i], end);
            const std::uint64_t begin = start + i * each;
            if constexpr (kWatching == Watching::calls)
                tell(step, frames[i], *marks[i], Flow::ok, begin, begin + each);
        }
    }

    /// Does what `take` does, which waits for a token.
    template <typename Token, typename Take>
    Token* waited(const StageWalk::Part& part, Take take) {
        const bool pushes = part.stage_index == 0;
        if constexpr (kWatching == Watching::calls) {
            for (ThreadObserver* observer : notes_.options_.observers)
                observer->waiting(part.segment, pushes);
        }
        const std::uint64_t start = stamp();
        Token* token = take();
        if constexpr (kWatching != Watching::nothing) {
            const std::uint64_t end = ticks();
            (pushes ? notes_.push_waits_ : notes_.pull_waits_).add(end - start);
            const std::uint64_t frame = pushes || !token ? part.next_frame : token->first_frame;
            if constexpr (kWatching == Watching::calls) {
                for (ThreadObserver* observer : notes_.options_.observers)
                    observer->waited({part.segment, notes_.options_.numbers.of(frame), pushes, start, end});
            }
        }
        return token;
    }

    /// A frame has left the graph.
    void delivered(const FrameMark& mark) {
        if constexpr (kWatching != Watching::nothing)
            notes_.latencies_.add(ticks() - (mark.born & ~kToldLate));
    }

  private:
    void tell(const RunStep& step, const internal::FrameContext& frame, FrameMark& mark, Flow flow,
              std::uint64_t start, std::uint64_t end) const {
        const std::uint64_t born = Marks::born(mark) & ~kToldLate;
        for (ThreadObserver* observer : notes_.options_.observers) {
            observer->called({step.index, step.step->task, *step.module, Frame(frame, step.addresses), flow,
                              born, start, end});
        }
    }

    WorkerNotes& notes_;
};

}  // namespace tidemill
