#include "tidemill/run/worker.hpp"

#include <cstring>

#include <fmt/format.h>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

namespace {

std::byte* at(const FrameContext& context, Place place) {
    return context.bases[static_cast<std::size_t>(place.base)] + place.offset;
}

void copy_all(const std::vector<Copy>& copies, const FrameContext& context) {
    for (const Copy& copy : copies) std::memcpy(at(context, copy.to), at(context, copy.from), copy.bytes);
}

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
      scratch_(plan.stages[stage].scratch_bytes),
      region_states_(plan.regions, 0),
      step_times_(options_.statistics || !options_.observers.empty() ? plan.steps.size() : 0) {
    for (const Part& part : plan.stages[stage].parts) add_part(plan, part, modules);
    TokenRing& ring = state_.ring(parts_.front().segment);
    // Frame k belongs to thread k mod n, wherever the numbers begin.
    const std::uint64_t first = ring.first_frame();
    parts_.front().cursor = ring.at(first + (replica + threads_ - first % threads_) % threads_);
}

void Worker::add_part(const Plan& plan, const Part& part, const std::vector<Module*>& modules) {
    RunPart& added = parts_.emplace_back();
    added.segment = part.segment;
    added.first_step = part.first_step;
    added.stage_index = part.stage_index;
    added.last_of_segment = part.stage_index + 1 == plan.segments[part.segment].stages;
    added.cursor = state_.ring(part.segment).at(state_.ring(part.segment).first_frame());
    added.context.stopping = state_.halting_flag();
    added.context.bases[static_cast<std::size_t>(Base::scratch)] = scratch_.data();
    // Constants are bound to inputs only, so nobody writes through this pointer.
    added.context.bases[static_cast<std::size_t>(Base::constant)] =
        const_cast<std::byte*>(plan.constants.data());
    for (std::uint32_t index = part.first_step; index < part.last_step; ++index) {
        const RunStep step = run_step(plan, index, modules);
        if (step.step->task.ends_segment) {
            added.end = step;
        } else {
            added.steps.push_back(step);
        }
    }
    for (RunStep& step : added.steps) {
        step.next = step_at(added, step.step->next);
        step.next_at_hole = step_at(added, step.step->next_at_hole);
    }
    added.first = step_at(added, part.first_step);
}

// Null for what lies beyond: the part ends, or the segment does.
const Worker::RunStep* Worker::step_at(const RunPart& part, std::uint32_t index) {
    const std::uint32_t position = index - part.first_step;
    return position < part.steps.size() ? &part.steps[position] : nullptr;
}

Worker::RunStep Worker::run_step(const Plan& plan, std::uint32_t index, const std::vector<Module*>& modules) {
    const Step& step = plan.steps[index];
    Module* module = modules[step.task.id.module];
    const TaskInfo& info = module->tasks()[step.task.id.task];
    RunStep made{};
    made.call = info.call;
    made.module = module;
    made.places = plan.places[step.task.id.module].data();
    made.code = info.code;
    made.holes = step.task.holes;
    made.index = index;
    made.copies = !step.before.empty();
    made.step = &step;
    made.info = &info;
    if (step.task.firings > 1) {
        firings_.push_back(std::make_unique<Firings>(plan, index, *module));
        made.call = &Firings::fire;
        made.code = firings_.back()->code();
    }
    return made;
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
        state_.ring(parts_[i].segment).close(parts_[i].cursor.frame);
    }
}

template <Watching kWatching>
void Worker::run_stream() {
    RunPart& first = parts_.front();
    TokenRing& ring = state_.ring(first.segment);
    while (true) {
        if (leads()) end_when_halting();
        Token* token = take<kWatching>(first);
        if (!token) return;
        if (stage_ == 0) {
            if (threads_ > 1 && !state_.may_begin(first.cursor.frame)) return;
            token->holes = 0;
            token->born = stamp<kWatching>();
        }
        process<kWatching>(0, *token, first.cursor.frame);
        ring.advance(first.cursor, threads_);
    }
}

// Alone, the leader knows what has begun. Beside others it must ask: replicas whose frames share no tokens
// and no later thread with its own may be any number of frames ahead.
void Worker::end_when_halting() {
    if (options_.stop_when && options_.stop_when()) state_.end();
    if (ending_ || !state_.halting()) return;
    ending_ = true;
    state_.ring(0).close(threads_ == 1 ? parts_.front().cursor.frame : state_.shut_source());
}

template <Watching kWatching>
Token* Worker::take(const RunPart& part) {
    TokenRing& ring = state_.ring(part.segment);
    Token* token = ring.try_take(part.cursor, part.stage_index);
    if (!token) {
        const bool pushes = part.stage_index == 0;
        const std::uint64_t start = stamp<kWatching>();
        token = ring.take(part.cursor, part.stage_index, pushes ? options_.push : options_.pull);
        if constexpr (kWatching != Watching::nothing) note_wait<kWatching>(part, pushes, start);
    }
    return ring.ended_before(part.cursor.frame) ? nullptr : token;
}

template <Watching kWatching>
void Worker::note_wait(const RunPart& part, bool pushes, std::uint64_t start) {
    const std::uint64_t end = ticks();
    (pushes ? push_waits_ : pull_waits_).add(end - start);
    if constexpr (kWatching == Watching::calls) {
        for (ThreadObserver* observer : options_.observers) {
            observer->waited({part.segment, part.cursor.frame, pushes, start, end});
        }
    }
}

// Returns the tick from which the next call is to be counted: what observers take is nobody's time.
template <Watching kWatching>
std::uint64_t Worker::note_call(const RunPart& part, const RunStep& step, const Token& token, Flow flow,
                                std::uint64_t start) {
    const std::uint64_t end = ticks();
    step_times_[step.index].add(end - start);
    if constexpr (kWatching == Watching::times) return end;
    const Frame frame(part.context, step.places);
    for (ThreadObserver* observer : options_.observers) {
        observer->called({step.index, step.step->task, *step.module, frame, flow, token.born, start, end});
    }
    return ticks();
}

template <Watching kWatching>
void Worker::process(std::size_t index, Token& token, std::uint64_t frame) {
    RunPart& part = parts_[index];
    TokenRing& ring = state_.ring(part.segment);
    part.context.bases[static_cast<std::size_t>(Base::token)] = token.data;
    part.context.number = frame;
    if (frame < ring.limit()) {
        const RunStep* step = part.first;
        try {
            std::uint64_t before = stamp<kWatching>();
            bool goes_on = true;
            while (step && goes_on) {
                if (token.holes & step->holes) {
                    step = leave_out(*step);
                    continue;
                }
                if (step->copies) copy_all(step->step->before, part.context);
                const Flow flow = step->call(*step->module, step->code, Frame(part.context, step->places));
                if constexpr (kWatching != Watching::nothing) {
                    before = note_call<kWatching>(part, *step, token, flow, before);
                }
                if (flow == Flow::ok) {
                    step = step->next;
                } else if (flow == kControlFlow) {
                    step = steer(part, *step);
                } else {
                    goes_on = obey(part, *step, token, flow);
                    step = goes_on ? step->next : step;
                }
            }
            if (goes_on && part.end) {
                step = &*part.end;
                emit<kWatching>(index, token);
            }
        } catch (...) {
            fail(part, *step);
        }
    }
    finish<kWatching>(part, token, frame);
    ring.pass(token, frame, part.stage_index);
}

template <Watching kWatching>
void Worker::emit(std::size_t index, Token& token) {
    RunPart& part = parts_[index];
    RunPart& next = parts_[index + 1];
    const RunStep& step = *part.end;
    if (token.holes & step.holes) return;
    const std::uint64_t frame = part.context.number;
    Flow flow = Flow::again;
    while (flow == Flow::again && frame < state_.ring(part.segment).limit()) {
        Token* out = take<kWatching>(next);
        part.context.bases[static_cast<std::size_t>(Base::next_token)] = out->data;
        const std::uint64_t before = stamp<kWatching>();
        copy_all(step.step->before, part.context);
        flow = step.call(*step.module, step.code, Frame(part.context, step.places));
        if constexpr (kWatching != Watching::nothing) note_call<kWatching>(part, step, token, flow, before);
        if (flow != Flow::ok && !obey(part, step, token, flow)) return;
        copy_all(step.step->on_emit, part.context);
        out->holes = token.holes;
        out->born = token.born;
        const std::uint64_t number = next.cursor.frame;
        state_.ring(next.segment).advance(next.cursor, 1);
        process<kWatching>(index + 1, *out, number);
    }
}

const Worker::RunStep* Worker::steer(const RunPart& part, const RunStep& step) {
    const ControlStep& control = step.step->control;
    std::uint32_t& state = region_states_[control.region];
    if (control.kind == ControlKind::switch_select || control.kind == ControlKind::loop_select) {
        const Copy& copy = control.inputs[state];
        std::memmove(at(part.context, copy.to), at(part.context, copy.from), copy.bytes);
        return step.next;
    }
    state = std::to_integer<std::uint8_t>(*at(part.context, control.control));
    if (control.kind == ControlKind::loop_commute) state = state != 0;
    if (state >= control.targets.size()) {
        throw std::out_of_range(
            fmt::format("control value {}, but there are {} paths, from 0", state, control.targets.size()));
    }
    return step_at(part, control.targets[state]);
}

// A hole in a switch or loop ends all of it.
const Worker::RunStep* Worker::leave_out(const RunStep& step) {
    if (step.info->control != ControlKind::none) region_states_[step.step->control.region] = 0;
    return step.next_at_hole;
}

bool Worker::obey(const RunPart& part, const RunStep& step, Token& token, Flow flow) {
    const TaskOptions& promised = step.info->options;
    const bool sequential = promised.replication == Replication::sequential;
    if (flow == Flow::skip && promised.may_skip) {
        token.holes |= step.step->task.own_hole;
        return !step.info->ends_segment();
    }
    if (flow == Flow::again && promised.may_repeat) return true;
    if (flow == Flow::stop && sequential) {
        state_.stop_before(part.segment, part.context.number);
        return false;
    }
    throw std::logic_error(flow == Flow::skip    ? "it returned skip; declare it with may_skip"
                           : flow == Flow::again ? "it returned again; declare it with may_repeat"
                                                 : "it returned stop; only sequential tasks may");
}

template <Watching kWatching>
void Worker::finish(const RunPart& part, const Token& token, std::uint64_t frame) {
    const bool alive = frame < state_.ring(part.segment).limit();
    if (part.segment == 0 && part.stage_index == 0 && alive) ++begun_;
    if (part.segment + 1 != state_.segments() || !part.last_of_segment || !alive) return;
    ++(token.holes == 0 ? delivered_ : skipped_);
    if constexpr (kWatching != Watching::nothing) latencies_.add(ticks() - token.born);
}

void Worker::fail(const RunPart& part, const RunStep& step) {
    state_.fail(part.segment, RunError(step.step->task.name, stage_, replica_, part.context.number,
                                       std::current_exception()));
}

}  // namespace tidemill
