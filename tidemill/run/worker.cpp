#include "tidemill/run/worker.hpp"

#include <algorithm>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

namespace {

// Time stamps that cost nothing when nobody looks at them.
template <Watching kWatching>
std::uint64_t stamp() {
    if constexpr (kWatching != Watching::nothing) return ticks();
    return 0;
}

}  // namespace

Worker::Worker(const Plan& plan, std::size_t stage, std::size_t replica, std::vector<Module*> modules,
               RunState& state, Options options)
    : stage_(stage),
      replica_(replica),
      threads_(plan.stages[stage].threads),
      state_(state),
      options_(std::move(options)),
      scratch_(plan.stages[stage].scratch_bytes) {
    for (const Part& part : plan.stages[stage].parts) add_part(plan, part, modules);
    // Batch k belongs to thread k mod n.
    parts_.front().cursor = state_.ring(parts_.front().segment).at(replica);
}

void Worker::add_part(const Plan& plan, const Part& part, const std::vector<Module*>& modules) {
    TokenRing& ring = state_.ring(part.segment);
    RunPart& added = parts_.emplace_back(RunPart{
        .segment = part.segment,
        .stage_index = part.stage_index,
        .last_of_segment = part.stage_index + 1 == plan.segments[part.segment].stages,
        .steps = PartSteps(plan, part, modules),
        .cursor = ring.at(0),
        .next_frame = options_.first_frames[part.segment],
    });
    added.context.stopping = state_.halting_flag();
    added.context.bases[static_cast<std::size_t>(Base::scratch)] = scratch_.data();
    // Constants are bound to inputs only, so nobody writes through this pointer.
    added.context.bases[static_cast<std::size_t>(Base::constant)] =
        const_cast<std::byte*>(plan.constants.data());
    if (!options_.statistics && options_.observers.empty()) return;
    for (std::uint32_t step = part.first_step; step < part.last_step; ++step)
        step_times_.push_back({step, {}});
}

std::uint64_t Worker::next_frame(std::uint32_t segment) const {
    for (std::size_t i = stage_ == 0 ? 0 : 1; i < parts_.size(); ++i) {
        if (parts_[i].segment == segment) return parts_[i].next_frame;
    }
    return options_.first_frames[segment];
}

void Worker::run() {
    if (!options_.observers.empty()) {
        run_stream<Watching::calls>();
    } else if (options_.statistics) {
        run_stream<Watching::times>();
    } else {
        run_stream<Watching::nothing>();
    }
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        state_.ring(parts_[i].segment).close(parts_[i].cursor.batch);
    }
}

template <Watching kWatching>
void Worker::run_stream() {
    RunPart& part = parts_.front();
    while (true) {
        if (leads()) end_when_halting();
        Token* token = take<kWatching>(part);
        if (!token || (stage_ == 0 && !begin_batch(*token))) return;
        for (std::uint32_t frame = 0; frame < token->frames; ++frame) {
            if (stage_ == 0) {
                if (frame > 0 && leads() && threads_ == 1 && halting()) token->frames = frame;
                if (frame == token->frames) break;
                token->mark(frame) = {0, stamp<kWatching>()};
                part.next_frame = token->first_frame + frame + 1;
            }
            process<kWatching>(0, *token, frame);
        }
        hand_on(0, *token);
        state_.ring(part.segment).advance(part.cursor, threads_);
    }
}

// Asks the user's condition, too.
bool Worker::halting() {
    if (options_.stop_when && options_.stop_when()) state_.end();
    return state_.halting();
}

// Alone, the leader knows what has begun. Beside others it must ask: replicas whose batches share no tokens
// and no later thread with its own may be any number of batches ahead.
void Worker::end_when_halting() {
    if (!halting() || ending_) return;
    ending_ = true;
    state_.ring(0).close(threads_ == 1 ? parts_.front().cursor.batch : state_.shut_source());
}

// Only the last batch of a run may be smaller than the others, so numbers are a matter of arithmetic.
bool Worker::begin_batch(Token& token) {
    const std::uint64_t batch = parts_.front().cursor.batch;
    if (threads_ > 1 && !state_.may_begin(batch)) return false;
    token.first_frame = options_.first_frames.front() + batch * options_.batch;
    token.frames = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options_.batch, options_.source_end - token.first_frame));
    return true;
}

template <Watching kWatching>
Token* Worker::take(const RunPart& part) {
    TokenRing& ring = state_.ring(part.segment);
    Token* token = ring.try_take(part.cursor, part.stage_index);
    if (!token) token = wait<kWatching>(part);
    return ring.ended_before(part.cursor.batch) ? nullptr : token;
}

template <Watching kWatching>
Token* Worker::wait(const RunPart& part) {
    const bool pushes = part.stage_index == 0;
    if constexpr (kWatching == Watching::calls) {
        for (ThreadObserver* observer : options_.observers) observer->waiting(part.segment, pushes);
    }
    const std::uint64_t start = stamp<kWatching>();
    Token* token =
        state_.ring(part.segment).take(part.cursor, part.stage_index, pushes ? options_.push : options_.pull);
    if constexpr (kWatching != Watching::nothing) {
        const std::uint64_t end = ticks();
        (pushes ? push_waits_ : pull_waits_).add(end - start);
        const std::uint64_t frame = pushes || !token ? part.next_frame : token->first_frame;
        if constexpr (kWatching == Watching::calls) {
            for (ThreadObserver* observer : options_.observers) {
                observer->waited({part.segment, options_.numbers.of(frame), pushes, start, end});
            }
        }
    }
    return token;
}

// Returns the tick from which the next call is to be counted: what observers take is nobody's time.
template <Watching kWatching>
std::uint64_t Worker::note_call(const RunPart& part, const RunStep& step, const FrameMark& mark, Flow flow,
                                std::uint64_t start) {
    const std::uint64_t end = ticks();
    StepTimes& times = step_times_[step.index - step_times_.front().step];
    times.times.add(end - start);
    if constexpr (kWatching == Watching::times) return end;
    const Frame frame(part.context, step.places);
    for (ThreadObserver* observer : options_.observers) {
        observer->called({times.step, step.step->task, *step.module, frame, flow, mark.born, start, end});
    }
    return ticks();
}

template <Watching kWatching>
void Worker::process(std::size_t index, Token& token, std::uint32_t frame) {
    RunPart& part = parts_[index];
    FrameMark& mark = token.mark(frame);
    part.frame = token.first_frame + frame;
    part.context.number = options_.numbers.of(part.frame);
    part.context.bases[static_cast<std::size_t>(Base::token)] = token.data(frame);
    if (part.frame < state_.ring(part.segment).limit()) run_steps<kWatching>(index, mark);
    finish<kWatching>(part, mark);
}

template <Watching kWatching>
void Worker::run_steps(std::size_t index, FrameMark& mark) {
    RunPart& part = parts_[index];
    const RunStep* step = part.steps.first();
    const RunStep* running = step;
    try {
        std::uint64_t before = stamp<kWatching>();
        bool goes_on = true;
        while (step && goes_on) {
            if (mark.holes & step->holes) {
                step = part.steps.leave_out(*step);
                continue;
            }
            running = step;
            Flow flow = call<kWatching>(part, *running);
            if (flow == Flow::ok) {
                // A branch is foretold, and the next step fetched ahead; a pointer would be waited for.
                step = running->jumps ? running->next : running + 1;
            } else if (flow == kControlFlow) {
                step = part.steps.steer(*running, part.context);
                flow = Flow::ok;
            } else {
                goes_on = obey(part, *running, mark, flow);
                step = running->next;
            }
            if constexpr (kWatching != Watching::nothing) {
                before = note_call<kWatching>(part, *running, mark, flow, before);
            }
        }
        if (goes_on && part.steps.end()) {
            running = part.steps.end();
            emit<kWatching>(index, mark);
        }
    } catch (...) {
        fail(part, *running);
    }
}

template <Watching kWatching>
Flow Worker::call(const RunPart& part, const RunStep& step) {
    if constexpr (kWatching == Watching::calls) {
        for (ThreadObserver* observer : options_.observers) {
            observer->calling(step.step->task, part.context.number);
        }
    }
    if (step.copies) copy_all(step.step->before, part.context);
    return step.call(*step.module, step.code, Frame(part.context, step.places));
}

template <Watching kWatching>
void Worker::emit(std::size_t index, const FrameMark& mark) {
    RunPart& part = parts_[index];
    RunPart& next = parts_[index + 1];
    const RunStep& step = *part.steps.end();
    if (mark.holes & step.holes) return;
    Flow flow = Flow::again;
    while (flow == Flow::again && part.frame < state_.ring(part.segment).limit()) {
        Token& out = open_token<kWatching>(next);
        part.context.bases[static_cast<std::size_t>(Base::next_token)] = out.data(out.frames);
        const std::uint64_t before = stamp<kWatching>();
        flow = call<kWatching>(part, step);
        if constexpr (kWatching != Watching::nothing) note_call<kWatching>(part, step, mark, flow, before);
        FrameMark& own = out.mark(out.frames);
        own = mark;
        if (flow != Flow::ok && !obey(part, step, own, flow)) return;
        copy_all(step.step->on_emit, part.context);
        ++next.next_frame;
        process<kWatching>(index + 1, out, out.frames++);
        if (out.frames == options_.batch) hand_on_open(index + 1);
    }
}

template <Watching kWatching>
Token& Worker::open_token(RunPart& part) {
    if (!part.open) {
        part.open = take<kWatching>(part);
        part.open->first_frame = part.next_frame;
        part.open->frames = 0;
    }
    return *part.open;
}

// What came of a batch goes on with it: no frame waits for the next batch to come.
void Worker::hand_on(std::size_t index, Token& token) {
    if (index + 1 < parts_.size()) hand_on_open(index + 1);
    const RunPart& part = parts_[index];
    state_.ring(part.segment).pass(token, part.cursor.batch, part.stage_index);
}

void Worker::hand_on_open(std::size_t index) {
    RunPart& part = parts_[index];
    if (!part.open || part.open->frames == 0) return;
    hand_on(index, *part.open);
    part.open = nullptr;
    state_.ring(part.segment).advance(part.cursor, 1);
}

bool Worker::obey(const RunPart& part, const RunStep& step, FrameMark& mark, Flow flow) {
    check_promise(*step.info, flow);
    if (flow == Flow::stop) state_.stop_before(part.segment, part.frame);
    if (flow == Flow::skip) mark.holes |= step.step->task.own_hole;
    return flow == Flow::again || (flow == Flow::skip && !step.info->ends_segment());
}

template <Watching kWatching>
void Worker::finish(const RunPart& part, const FrameMark& mark) {
    const bool alive = part.frame < state_.ring(part.segment).limit();
    if (part.segment == 0 && part.stage_index == 0 && alive) ++begun_;
    if (part.segment + 1 != state_.segments() || !part.last_of_segment || !alive) return;
    ++(mark.holes == 0 ? delivered_ : skipped_);
    if constexpr (kWatching != Watching::nothing) latencies_.add(ticks() - mark.born);
}

void Worker::fail(const RunPart& part, const RunStep& step) {
    state_.fail(
        part.segment, part.frame,
        FrameError(step.step->task.name, stage_, replica_, part.context.number, std::current_exception()));
}

}  // namespace tidemill
