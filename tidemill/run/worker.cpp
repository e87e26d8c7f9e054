#include "tidemill/run/worker.hpp"

#include <cstring>

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
template <bool kStatistics>
std::uint64_t stamp() {
    if constexpr (kStatistics) return ticks();
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
      step_times_(options_.statistics ? plan.steps.size() : 0) {
    for (const Part& part : plan.stages[stage].parts) add_part(plan, part, modules);
    parts_.front().cursor = state_.ring(parts_.front().segment).at(replica);
}

void Worker::add_part(const Plan& plan, const Part& part, const std::vector<Module*>& modules) {
    RunPart& added = parts_.emplace_back();
    added.segment = part.segment;
    added.stage_index = part.stage_index;
    added.last_of_segment = part.stage_index + 1 == plan.segments[part.segment].stages;
    added.cursor = state_.ring(part.segment).at(0);
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
}

Worker::RunStep Worker::run_step(const Plan& plan, std::uint32_t index,
                                 const std::vector<Module*>& modules) const {
    const Step& step = plan.steps[index];
    Module* module = modules[step.task.id.module];
    const TaskInfo& info = module->tasks()[step.task.id.task];
    return {info.call, module, plan.places[step.task.id.module].data(), info.code, step.task.holes, index,
            &step,     &info};
}

void Worker::run() {
    if (options_.statistics) {
        run_stream<true>();
    } else {
        run_stream<false>();
    }
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        state_.ring(parts_[i].segment).close(parts_[i].cursor.frame);
    }
}

template <bool kStatistics>
void Worker::run_stream() {
    RunPart& first = parts_.front();
    TokenRing& ring = state_.ring(first.segment);
    while (true) {
        if (leads()) end_when_halting();
        Token* token = take<kStatistics>(first);
        if (!token) return;
        if (stage_ == 0) {
            token->holes = 0;
            token->born = stamp<kStatistics>();
        }
        process<kStatistics>(0, *token, first.cursor.frame);
        ring.advance(first.cursor, threads_);
    }
}

// No other thread of this stage can have begun a frame that would use the token of ours again: ending the
// stream one ring further on is safe without asking them.
void Worker::end_when_halting() {
    if (options_.stop_when && options_.stop_when()) state_.halt();
    if (ending_ || !state_.halting()) return;
    ending_ = true;
    TokenRing& ring = state_.ring(0);
    const std::uint64_t next = parts_.front().cursor.frame;
    ring.close(threads_ == 1 ? next : next + ring.size());
}

template <bool kStatistics>
Token* Worker::take(const RunPart& part) {
    TokenRing& ring = state_.ring(part.segment);
    Token* token = ring.try_take(part.cursor, part.stage_index);
    if (!token) {
        const bool pushes = part.stage_index == 0;
        const std::uint64_t start = stamp<kStatistics>();
        token = ring.take(part.cursor, part.stage_index, pushes ? options_.push : options_.pull);
        if constexpr (kStatistics) (pushes ? push_waits_ : pull_waits_).add(ticks() - start);
    }
    return ring.ended_before(part.cursor.frame) ? nullptr : token;
}

template <bool kStatistics>
void Worker::process(std::size_t index, Token& token, std::uint64_t frame) {
    RunPart& part = parts_[index];
    TokenRing& ring = state_.ring(part.segment);
    part.context.bases[static_cast<std::size_t>(Base::token)] = token.data;
    part.context.number = frame;
    if (frame < ring.limit()) {
        const RunStep* step = part.steps.data();
        const RunStep* const end = step + part.steps.size();
        try {
            std::uint64_t before = stamp<kStatistics>();
            for (; step != end; ++step) {
                if (token.holes & step->holes) continue;
                if (!step->step->before.empty()) copy_all(step->step->before, part.context);
                const Flow flow = step->call(*step->module, step->code, Frame(part.context, step->places));
                if constexpr (kStatistics) {
                    const std::uint64_t after = ticks();
                    step_times_[step->index].add(after - before);
                    before = after;
                }
                if (flow != Flow::ok && !goes_on(part, *step, token, flow)) break;
            }
            if (step == end && part.end) {
                step = &*part.end;
                emit<kStatistics>(index, token);
            }
        } catch (...) {
            fail(part, *step);
        }
    }
    finish<kStatistics>(part, token, frame);
    ring.pass(token, frame, part.stage_index);
}

template <bool kStatistics>
void Worker::emit(std::size_t index, Token& token) {
    RunPart& part = parts_[index];
    RunPart& next = parts_[index + 1];
    const RunStep& step = *part.end;
    if (token.holes & step.holes) return;
    const std::uint64_t frame = part.context.number;
    Flow flow = Flow::again;
    while (flow == Flow::again && frame < state_.ring(part.segment).limit()) {
        Token* out = take<kStatistics>(next);
        part.context.bases[static_cast<std::size_t>(Base::next_token)] = out->data;
        const std::uint64_t before = stamp<kStatistics>();
        copy_all(step.step->before, part.context);
        flow = step.call(*step.module, step.code, Frame(part.context, step.places));
        if constexpr (kStatistics) step_times_[step.index].add(ticks() - before);
        if (flow != Flow::ok && !goes_on(part, step, token, flow)) return;
        copy_all(step.step->on_emit, part.context);
        out->holes = token.holes;
        out->born = token.born;
        const std::uint64_t number = next.cursor.frame;
        state_.ring(next.segment).advance(next.cursor, 1);
        process<kStatistics>(index + 1, *out, number);
    }
}

bool Worker::goes_on(const RunPart& part, const RunStep& step, Token& token, Flow flow) {
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

template <bool kStatistics>
void Worker::finish(const RunPart& part, const Token& token, std::uint64_t frame) {
    const bool alive = frame < state_.ring(part.segment).limit();
    if (part.segment == 0 && part.stage_index == 0 && alive) ++begun_;
    if (part.segment + 1 != state_.segments() || !part.last_of_segment || !alive) return;
    ++(token.holes == 0 ? delivered_ : skipped_);
    if constexpr (kStatistics) latencies_.add(ticks() - token.born);
}

void Worker::fail(const RunPart& part, const RunStep& step) {
    state_.fail(part.segment, RunError(step.step->task.name, stage_, replica_, part.context.number,
                                       std::current_exception()));
}

}  // namespace tidemill
