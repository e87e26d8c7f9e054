#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stop_token>

#include <cxxabi.h>

#include "tidemill/runtime/execute/again.hpp"
#include "tidemill/runtime/execute/frame_marks.hpp"
#include "tidemill/runtime/execute/part_steps.hpp"
#include "tidemill/runtime/execute/token_words.hpp"
#include "tidemill/runtime/execute/worker_notes.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

/// Part of a graph as one thread runs it, and the frame that it runs.
struct FramePart {
    FramePart(const Plan& plan, const Part& part, const std::vector<Module*>& modules, bool drops)
        : steps(plan, part, modules, drops), words(plan, part.segment) {
        // Constants are bound to inputs only, so nobody writes through this pointer.
        context.bases[index_of(internal::Base::constant)] = plan.constants.data();
    }

    /// The frame of the segment which that token carries is the one to run.
    void begin(std::uint64_t frame, std::byte* token, const FrameNumbers& numbers) {
        context.number = numbers.of(words.number(frame, token));
        context.bases[index_of(internal::Base::token)] = token;
        words.look_up_knobs(context);
    }

    PartSteps steps;
    TokenWords words;
    internal::FrameContext context{};
};

/// How far the task that ends a segment has come with a frame, and with what it emits.
struct Emission {
    AgainAfterStop again{};
    std::uint64_t next_number = 0;  ///< of what it emits, where segments have frames of several branches
    bool must_pass = false;         ///< it has emitted all; now the frame itself passes it
};

/// A frame of the next segment that is to be filled.
struct OpenFrame {
    std::byte* token;
    FrameMark& mark;
    const TokenWords& words;
};

/// Runs tasks on frames, for every executor. The flows that tasks return and what they throw take effect
/// here.
///
/// `Marks` says how the thread reads and writes a frame's mark. `Thread` is the running thread:
/// - `Flow call(step, call)`: returns what `call()` does.
/// - `void note_stop(part, step)`: that task ends the stream.
/// - `void note_failure(part, step, cause)`: it has thrown.
/// - `void note_unwind(part, step)`: a forced unwind ends the thread in it.
template <typename Marks, Watching kWatching, typename Thread>
class FrameRunner {
  public:
    FrameRunner(Thread& thread, WorkerNotes& notes, const Branches& branches, const std::stop_token& stop)
        : thread_(thread), watch_(notes), branches_(branches), stop_(stop) {}

    WorkerWatch<Marks, kWatching>& watch() { return watch_; }

    /// Runs the tasks before the part's or the segment's end. Ok: that is reached; skip: the frame ends here;
    /// stop: the stream before it.
    Flow run_steps(FramePart& part, FrameMark& mark);

    /// Calls the task that ends the part's segment, once, or passes the frame on. Ok: `out` is filled; again:
    /// it is, and there is more; skip: nothing came of it; stop: the stream ends before the part's frame.
    Flow emit(FramePart& part, FrameMark& mark, Emission& emission, const OpenFrame& out);

    /// Calls a task on several frames at once. Throws what it throws.
    void call_batch(const RunStep& step, std::span<const internal::FrameContext> frames,
                    std::span<FrameMark* const> marks);

    /// Does something for a task, whose failure is noted. Stop: it has failed.
    template <typename Call>
    Flow guarded(const FramePart& part, const RunStep& step, Call call);

  private:
    Flow call(const FramePart& part, const RunStep& step);
    Flow call_end(FramePart& part, FrameMark& mark, Emission& emission, const OpenFrame& out);
    Flow emit_or_pass(FramePart& part, FrameMark& mark, Emission& emission, const OpenFrame& out);
    Flow pass(const FramePart& part, FrameMark& mark, const OpenFrame& out);
    bool heed(const FramePart& part, const RunStep& step, FrameMark& mark, Flow flow);

    Thread& thread_;
    WorkerWatch<Marks, kWatching> watch_;
    const Branches& branches_;
    const std::stop_token& stop_;
};

// `running` is a variable of the loop alone, so that it may stay in a register.
template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::run_steps(FramePart& part, FrameMark& mark) {
    const RunStep* step = part.steps.first();
    const RunStep* running = step;
    try {
        std::uint64_t before = watch_.stamp();
        while (step) {
            if (Marks::has_any(mark, step->holes)) {
                step = part.steps.leave_out(*step);
                continue;
            }
            running = step;
            Flow flow = call(part, *running);
            bool goes_on = true;
            if (flow == Flow::ok) {
                // A branch is predicted, and the next step fetched ahead; a pointer would be waited for.
                step = running->jumps ? running->next : running + 1;
            } else if (flow == internal::kControlFlow) {
                step = part.steps.steer(*running, part.context);
                flow = Flow::ok;
            } else {
                goes_on = heed(part, *running, mark, flow);
                step = running->next;
            }
            before = watch_.called(*running, part.context, mark, flow, before);
            if (!goes_on) return flow;
        }
    } catch (const abi::__forced_unwind&) {
        thread_.note_unwind(part, *running);
        throw;
    } catch (...) {
        thread_.note_failure(part, *running, std::current_exception());
        return Flow::stop;
    }
    const RunStep* end = part.steps.end();
    return end && end->step->passages.empty() && Marks::has_any(mark, end->holes) ? Flow::skip : Flow::ok;
}

// Whether the stream goes on.
template <typename Marks, Watching kWatching, typename Thread>
bool FrameRunner<Marks, kWatching, Thread>::heed(const FramePart& part, const RunStep& step, FrameMark& mark,
                                                 Flow flow) {
    check_promise(*step.info, flow);
    if (flow == Flow::skip) Marks::add_hole(mark, step.step->task.own_hole);
    if (flow == Flow::stop) thread_.note_stop(part, step);
    return flow != Flow::stop;
}

template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::call(const FramePart& part, const RunStep& step) {
    watch_.calling(step, part.context.number);
    if (step.copies) copy_all(step.step->before, part.context);
    return thread_.call(
        step, [&] { return step.call(*step.module, step.code, Frame(part.context, step.addresses)); });
}

template <typename Marks, Watching kWatching, typename Thread>
void FrameRunner<Marks, kWatching, Thread>::call_batch(const RunStep& step,
                                                       std::span<const internal::FrameContext> frames,
                                                       std::span<FrameMark* const> marks) {
    for (const internal::FrameContext& frame : frames) watch_.calling(step, frame.number);
    const std::uint64_t start = watch_.stamp();
    step.info->batch_call(*step.module, step.code, Batch(frames, step.addresses));
    watch_.called(step, frames, marks, start);
}

template <typename Marks, Watching kWatching, typename Thread>
template <typename Call>
Flow FrameRunner<Marks, kWatching, Thread>::guarded(const FramePart& part, const RunStep& step, Call call) {
    try {
        return call();
    } catch (const abi::__forced_unwind&) {
        thread_.note_unwind(part, step);
        throw;
    } catch (...) {
        thread_.note_failure(part, step, std::current_exception());
        return Flow::stop;
    }
}

template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::emit(FramePart& part, FrameMark& mark, Emission& emission,
                                                 const OpenFrame& out) {
    part.context.bases[index_of(internal::Base::next_token)] = out.token;
    const Flow flow =
        branches_.empty() ? call_end(part, mark, emission, out) : emit_or_pass(part, mark, emission, out);
    if (flow == Flow::stop || flow == Flow::skip) return flow;
    // The frame that is emitted begins under the same values.
    if (part.words.has_knobs)
        internal::name_knobs(out.token + out.words.knobs_at,
                             internal::knobs_at(part.words.knobs_of(part.context)));
    return flow;
}

template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::call_end(FramePart& part, FrameMark& mark, Emission& emission,
                                                     const OpenFrame& out) {
    const RunStep& step = *part.steps.end();
    return guarded(part, step, [&] {
        const std::uint64_t before = watch_.stamp();
        Flow flow = call(part, step);
        watch_.called(step, part.context, mark, flow, before);
        if (flow != Flow::ok) {
            heed(part, step, mark, flow);
            flow = emission.again.heed(flow, stop_);
        }
        if (flow == Flow::stop || flow == Flow::skip) return flow;
        out.mark = Marks::copy(mark);
        copy_all(step.step->on_emit, part.context);
        return flow;
    });
}

// First what the task emits, if the frame is of its branch, then the frame itself, where others need it.
template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::emit_or_pass(FramePart& part, FrameMark& mark, Emission& emission,
                                                         const OpenFrame& out) {
    const RunStep& step = *part.steps.end();
    const bool has_more = !emission.must_pass && !Marks::has_any(mark, step.holes);
    const Flow flow = has_more ? call_end(part, mark, emission, out) : Flow::skip;
    if (flow == Flow::stop) return flow;
    emission.must_pass = flow == Flow::ok;
    if (flow == Flow::skip) return pass(part, mark, out);
    out.mark.holes &= ~branches_.all;
    out.mark.holes |= branches_.bits[step.step->task.segment + 1];
    out.words.set_number(out.token, emission.next_number++);
    return Flow::again;
}

// Skip: nobody behind needs it.
template <typename Marks, Watching kWatching, typename Thread>
Flow FrameRunner<Marks, kWatching, Thread>::pass(const FramePart& part, FrameMark& mark,
                                                 const OpenFrame& out) {
    for (const Passage& passage : part.steps.end()->step->passages) {
        if (!Marks::has_any(mark, passage.branch)) continue;
        out.mark = Marks::copy(mark);
        copy_all(passage.copies, part.context);
        const std::byte* token = part.context.bases[index_of(internal::Base::token)];
        out.words.set_number(out.token, part.words.number(*part.context.place, token));
        return Flow::ok;
    }
    return Flow::skip;
}

}  // namespace tidemill
