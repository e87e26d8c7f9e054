#include "tidemill/run/worker.hpp"

#include <algorithm>
#include <cstring>

#include <cxxabi.h>

#include "tidemill/guard.hpp"
#include "tidemill/run/late.hpp"

namespace tidemill {

namespace {

void store_number(std::byte* to, std::uint64_t number) {
    std::memcpy(to, &number, sizeof(number));
}

}  // namespace

/// The work that a worker does on its walk, compiled once per amount of watching.
template <Watching kWatching>
class Worker::Tasks {
  public:
    explicit Tasks(Worker& worker) : worker_(worker), watch_(worker.notes_) {}

    bool halting() const;
    void begin(Token& token, std::uint32_t frame);
    void begin_late(Token& spare);
    void drops(std::uint64_t frame) { worker_.dropped_.add(frame); }
    Flow run(std::size_t part, Token& token, std::uint32_t frame);
    std::uint32_t most_together() const { return worker_.gathered_.most(); }
    void gathers() { worker_.gathered_.begin(); }
    bool gathers_on() const { return worker_.gathered_.waits_on(); }
    std::uint32_t most_under_way() const { return worker_.gathered_.places(); }
    Flow begin_together(std::span<const StageWalk::FrameAt> frames);
    bool is_oldest_done() const;
    Flow end_together();
    Flow emit(std::size_t part, FrameMark& mark, Token& out);
    std::optional<FrameFailure> error() { return std::exchange(worker_.error_, std::nullopt); }
    template <typename Alive>
    void finish(std::size_t part, const FrameMark& mark, Alive alive);
    template <typename Take>
    Token* wait(const StageWalk::Part& part, Take take) {
        return watch_.template waited<Token>(part, take);
    }
    void loses_thread(const std::exception_ptr& why = nullptr);

  private:
    void begin(Token& token, std::uint32_t frame, const FrameMark& mark);
    void gather(std::span<const StageWalk::FrameAt> frames, GatheredCall& call) const;
    Flow run_steps(const Share& share, FrameMark& mark);
    Flow call(const Share& share, const RunStep& step);
    Flow call_end(Share& share, FrameMark& mark, Token& out);
    Flow emit_or_pass(std::size_t part, FrameMark& mark, Token& out);
    Flow pass(std::size_t part, const FrameMark& mark, Token& out);
    void number(std::size_t part, Token& out, std::uint64_t number) const;
    static void hand_knobs_on(const Share& from, const Share& to, std::byte* data);
    void note_stop(const Share& share, const RunStep& step) const;
    Flow stop_for(const Share& share, const RunStep& step);
    void lose_thread_in(const Share& share, const RunStep& step);
    FrameFailure failure_in(const Share& share, const RunStep& step, std::exception_ptr cause) const;
    template <typename Call>
    Flow guarded(const Share& share, const RunStep& step, Call call);

    Worker& worker_;
    WorkerWatch<kWatching> watch_;
};

template <Watching kWatching>
void Worker::Tasks<kWatching>::begin(Token& token, std::uint32_t frame) {
    const std::uint64_t number = token.first_frame + frame;
    const bool dropped = worker_.dropped_.replays(number);
    if (!dropped) worker_.dropped_.pass();
    begin(token, frame, {worker_.options_.begun_holes | (dropped ? kDroppedFrame : 0), watch_.stamp()});
}

// It may be lost itself, or an older one.
template <Watching kWatching>
void Worker::Tasks<kWatching>::begin_late(Token& spare) {
    const bool is_lost = worker_.options_.late == Late::drop_newest;
    const std::uint64_t holes = worker_.options_.begun_holes | (is_lost ? kDroppedFrame : 0);
    begin(spare, 0, {holes, watch_.stamp() | (is_lost ? kToldLate : 0)});
}

template <Watching kWatching>
void Worker::Tasks<kWatching>::begin(Token& token, std::uint32_t frame, const FrameMark& mark) {
    const Share& share = worker_.shares_.front();
    const std::uint64_t number = token.first_frame + frame;
    token.mark(frame) = mark;
    if (share.is_numbered) store_number(token.data(frame) + share.number_at, number);
    if (!share.has_knobs) return;
    internal::name_knobs(token.data(frame) + share.knobs_at,
                         worker_.knobs_ ? worker_.knobs_->begin(number) : worker_.options_.end_knobs);
}

Worker::Worker(const Plan& plan, std::size_t stage, std::size_t replica, std::vector<Module*> modules,
               RunState& state, Options options)
    : stage_(stage),
      replica_(replica),
      state_(state),
      options_(std::move(options)),
      branches_(plan.branches),
      planned_(planned_parts(plan)),
      scratch_(plan.stages[stage].scratch_bytes),
      walk_(state, walk_options(), walked_parts()),
      shares_(shares_of(plan, modules)),
      gathered_(most_together(), most_under_way(), options_.gather_wait_us),
      notes_(options_.notes),
      dropped_(options_.replay, options_.journal) {
    for (const Part& part : planned_)
        for (std::uint32_t step = part.first_step; step < part.last_step; ++step) notes_.add_step(step);
    if (stage == 0 && options_.knobs) knobs_.emplace(*options_.knobs, replica);
}

std::uint32_t Worker::most_together() const {
    const RunStep* batched = shares_.front().steps.batched();
    return batched ? std::min(batched->info->options.batch, std::max(options_.batch, options_.gather)) : 1;
}

std::uint32_t Worker::most_under_way() const {
    const RunStep* batched = shares_.front().steps.batched();
    return batched ? std::max(1u, batched->info->options.in_flight) : 1;
}

StageWalk::Options Worker::walk_options() const {
    return {.begins = begins_frames(),
            .replica = replica_,
            .turns = options_.turns,
            .pull = options_.pull,
            .push = options_.push,
            .batch = options_.batch,
            .gather = options_.gather,
            .first_frame = options_.first_frames[options_.first_branch],
            .source_end = options_.source_end,
            .drops_late = begins_frames() && options_.late != Late::wait,
            .drops_oldest = begins_frames() && options_.late == Late::drop_oldest,
            .claims = options_.late == Late::drop_oldest && planned_.front().segment == 0};
}

std::vector<Part> Worker::planned_parts(const Plan& plan) const {
    std::vector<Part> parts = plan.stages[stage_].parts;
    std::erase_if(parts, [&](const Part& part) { return part.segment < options_.first_segment; });
    return parts;
}

bool Worker::begins_frames() const {
    return planned_.front().segment == options_.first_segment && planned_.front().stage_index == 0;
}

std::vector<StageWalk::Part> Worker::walked_parts() const {
    std::vector<StageWalk::Part> parts;
    for (const Part& part : planned_) {
        parts.push_back({part.segment, part.stage_index, options_.first_frames[part.segment]});
    }
    return parts;
}

std::vector<Worker::Share> Worker::shares_of(const Plan& plan, const std::vector<Module*>& modules) {
    std::vector<Share> shares;
    for (const Part& part : planned_) {
        shares.push_back(share_of(plan, part, modules));
        shares.back().context.place = &walk_.part(shares.size() - 1).frame;
    }
    return shares;
}

Worker::Share Worker::share_of(const Plan& plan, const Part& part, const std::vector<Module*>& modules) {
    const bool delivers = options_.delivers && part.segment + 1 == plan.segments.size() &&
                          part.stage_index + 1 == plan.segments[part.segment].stages;
    const bool begins = part.segment == 0 && part.stage_index == 0 && !options_.tells_end;
    const PlannedSegment& segment = plan.segments[part.segment];
    const bool is_numbered = part.segment > 0 && !plan.branches.empty();
    Share added{PartSteps(plan, part, modules, drops()),
                begins,
                delivers,
                plan.has_knobs,
                segment.knobs_at,
                is_numbered,
                segment.number_at};
    if (part.segment + 1 < plan.segments.size()) added.next_number = options_.first_frames[part.segment + 1];
    added.context.stopping = state_.halting_flag();
    added.context.end = state_.ring(part.segment).limit_word();
    if (part.segment == 0) added.context.teller = options_.teller;
    added.context.bases[static_cast<std::size_t>(internal::Base::scratch)] = scratch_.data();
    // Constants are bound to inputs only, so nobody writes through this pointer.
    added.context.bases[static_cast<std::size_t>(internal::Base::constant)] = plan.constants.data();
    return added;
}

std::uint64_t Worker::next_frame(std::uint32_t branch) const {
    if (begins_frames() && branch == options_.first_branch) return walk_.part(0).next_frame;
    for (std::size_t i = 0; i + 1 < walk_.parts(); ++i) {
        if (walk_.part(i + 1).segment != branch) continue;
        return branches_.empty() ? walk_.part(i + 1).next_frame : shares_[i].next_number;
    }
    return options_.first_frames[branch];
}

// In the branch that the frame is of.
std::uint64_t Worker::number_of(const Share& share, std::uint64_t frame, const std::byte* data) const {
    if (share.is_numbered) std::memcpy(&frame, data + share.number_at, sizeof(frame));
    return frame;
}

void Worker::look_up_knobs(Share& share, const std::byte* data) {
    const KnobTable* table = internal::knobs_at(data + share.knobs_at);
    share.context.bases[static_cast<std::size_t>(internal::Base::knobs)] = table->values.data();
}

// Asks the user's condition, too.
template <Watching kWatching>
bool Worker::Tasks<kWatching>::halting() const {
    const auto& stop_when = worker_.options_.stop_when;
    if (stop_when && stop_when()) worker_.state_.end();
    return worker_.state_.halting();
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::run(std::size_t part, Token& token, std::uint32_t frame) {
    Share& share = worker_.shares_[part];
    share.context.number = worker_.options_.notes.numbers.of(
        worker_.number_of(share, worker_.walk_.part(part).frame, token.data(frame)));
    share.context.bases[static_cast<std::size_t>(internal::Base::token)] = token.data(frame);
    if (share.has_knobs) look_up_knobs(share, token.data(frame));
    return run_steps(share, token.mark(frame));
}

// `running` is a variable of the loop alone, so that it may stay in a register.
template <Watching kWatching>
Flow Worker::Tasks<kWatching>::run_steps(const Share& share, FrameMark& mark) {
    const RunStep* step = share.steps.first();
    const RunStep* running = step;
    try {
        std::uint64_t before = watch_.stamp();
        while (step) {
            if (mark.holes & step->holes) {
                step = share.steps.leave_out(*step);
                continue;
            }
            running = step;
            Flow flow = call(share, *running);
            bool goes_on = true;
            if (flow == Flow::ok) {
                // A branch is foretold, and the next step fetched ahead; a pointer would be waited for.
                step = running->jumps ? running->next : running + 1;
            } else if (flow == internal::kControlFlow) {
                step = share.steps.steer(*running, share.context);
                flow = Flow::ok;
            } else {
                check_promise(*running->info, flow);
                if (flow == Flow::stop) note_stop(share, *running);
                if (flow == Flow::skip) mark.holes |= running->step->task.own_hole;
                goes_on = flow == Flow::skip && !running->info->ends_segment();
                step = running->next;
            }
            before = watch_.called(*running, share.context, mark, flow, before);
            if (!goes_on) return flow;
        }
    } catch (const abi::__forced_unwind&) {
        lose_thread_in(share, *running);
        throw;
    } catch (...) {
        return stop_for(share, *running);
    }
    const RunStep* end = share.steps.end();
    return end && (mark.holes & end->holes) && end->step->passages.empty() ? Flow::skip : Flow::ok;
}

// Frames whose holes keep the task from running are left out.
template <Watching kWatching>
void Worker::Tasks<kWatching>::gather(std::span<const StageWalk::FrameAt> frames, GatheredCall& call) const {
    Share& share = worker_.shares_.front();
    const RunStep& step = *share.steps.batched();
    call.clear();
    for (const StageWalk::FrameAt& at : frames) {
        if (at.mark().holes & step.holes) continue;
        std::byte* data = at.token->data(at.frame);
        share.context.number = worker_.options_.notes.numbers.of(worker_.number_of(share, at.number(), data));
        share.context.bases[static_cast<std::size_t>(internal::Base::token)] = data;
        if (share.has_knobs) look_up_knobs(share, data);
        if (step.copies) copy_all(step.step->before, share.context);
        call.add(share.context, at.mark());
    }
    if (!call.contexts.empty()) share.context = call.contexts.front();
}

// An error is the first frame's: whose it was, only the task knows.
template <Watching kWatching>
Flow Worker::Tasks<kWatching>::begin_together(std::span<const StageWalk::FrameAt> frames) {
    GatheredCall& gathered = worker_.gathered_.to_begin();
    gather(frames, gathered);
    if (gathered.contexts.empty()) return Flow::ok;
    const Share& share = worker_.shares_.front();
    const RunStep& step = *share.steps.batched();
    const Batch batch(gathered.contexts, step.addresses);
    return guarded(share, step, [&] {
        for (const internal::FrameContext& frame : gathered.contexts) watch_.calling(step, frame.number);
        const std::uint64_t start = watch_.stamp();
        if (step.info->flight) {
            step.info->flight->begin(*step.module, batch, worker_.gathered_.place_to_begin());
            gathered.begin_ticks = watch_.stamp() - start;
            worker_.gathered_.has_begun();
            return Flow::again;
        }
        step.info->batch_call(*step.module, step.code, batch);
        watch_.called(step, gathered.contexts, gathered.marks, start);
        return Flow::ok;
    });
}

template <Watching kWatching>
bool Worker::Tasks<kWatching>::is_oldest_done() const {
    const RunStep& step = *worker_.shares_.front().steps.batched();
    bool is_done = true;  // where it throws, its end says why
    internal::thrown_by(
        [&] { is_done = step.info->flight->is_done(*step.module, worker_.gathered_.place_to_end()); });
    return is_done;
}

// Its time is that of both calls: what lies between them is nobody's.
template <Watching kWatching>
Flow Worker::Tasks<kWatching>::end_together() {
    const std::size_t place = worker_.gathered_.place_to_end();
    const GatheredCall& gathered = worker_.gathered_.to_end();
    worker_.gathered_.has_ended();
    Share& share = worker_.shares_.front();
    share.context = gathered.contexts.front();
    const RunStep& step = *share.steps.batched();
    const std::uint64_t start = watch_.stamp() - gathered.begin_ticks;
    return guarded(share, step, [&] {
        step.info->flight->end(*step.module, Batch(gathered.contexts, step.addresses), place);
        watch_.called(step, gathered.contexts, gathered.marks, start);
        return Flow::ok;
    });
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::call(const Share& share, const RunStep& step) {
    watch_.calling(step, share.context.number);
    if (step.copies) copy_all(step.step->before, share.context);
    return step.call(*step.module, step.code, Frame(share.context, step.addresses));
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::emit(std::size_t part, FrameMark& mark, Token& out) {
    Share& share = worker_.shares_[part];
    share.context.bases[static_cast<std::size_t>(internal::Base::next_token)] = out.data(out.frames);
    if (!worker_.branches_.empty()) return emit_or_pass(part, mark, out);
    const Flow flow = call_end(share, mark, out);
    if (flow == Flow::stop || flow == Flow::skip) return flow;
    if (share.has_knobs) hand_knobs_on(share, worker_.shares_[part + 1], out.data(out.frames));
    return flow;
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::call_end(Share& share, FrameMark& mark, Token& out) {
    const RunStep& step = *share.steps.end();
    return guarded(share, step, [&] {
        const std::uint64_t before = watch_.stamp();
        Flow flow = call(share, step);
        watch_.called(step, share.context, mark, flow, before);
        if (flow != Flow::ok) {
            check_promise(*step.info, flow);
            flow = share.again.heed(flow, worker_.options_.stop);
        }
        if (flow == Flow::stop) note_stop(share, step);
        if (flow == Flow::stop || flow == Flow::skip) return flow;
        out.mark(out.frames) = mark;
        copy_all(step.step->on_emit, share.context);
        return flow;
    });
}

// First what the task emits, if the frame is of its branch, then the frame itself, where others need it.
template <Watching kWatching>
Flow Worker::Tasks<kWatching>::emit_or_pass(std::size_t part, FrameMark& mark, Token& out) {
    Share& share = worker_.shares_[part];
    const RunStep& step = *share.steps.end();
    const bool has_more = !share.must_pass && (mark.holes & step.holes) == 0;
    const Flow flow = has_more ? call_end(share, mark, out) : Flow::skip;
    if (flow == Flow::stop) return flow;
    if (flow == Flow::skip) return pass(part, mark, out);
    const Branches& branches = worker_.branches_;
    out.mark(out.frames).holes = (mark.holes & ~branches.all) | branches.bits[step.step->task.segment + 1];
    number(part, out, share.next_number++);
    share.must_pass = flow == Flow::ok;
    return Flow::again;
}

// Skip: nobody behind needs it.
template <Watching kWatching>
Flow Worker::Tasks<kWatching>::pass(std::size_t part, const FrameMark& mark, Token& out) {
    Share& share = worker_.shares_[part];
    share.must_pass = false;
    for (const Passage& passage : share.steps.end()->step->passages) {
        if ((mark.holes & passage.branch) == 0) continue;
        out.mark(out.frames) = mark;
        copy_all(passage.copies, share.context);
        const std::byte* data = share.context.bases[static_cast<std::size_t>(internal::Base::token)];
        number(part, out, worker_.number_of(share, worker_.walk_.part(part).frame, data));
        return Flow::ok;
    }
    return Flow::skip;
}

template <Watching kWatching>
void Worker::Tasks<kWatching>::number(std::size_t part, Token& out, std::uint64_t number) const {
    const Share& next = worker_.shares_[part + 1];
    store_number(out.data(out.frames) + next.number_at, number);
    if (next.has_knobs) hand_knobs_on(worker_.shares_[part], next, out.data(out.frames));
}

// What comes of a frame began under the same values.
template <Watching kWatching>
void Worker::Tasks<kWatching>::hand_knobs_on(const Share& from, const Share& to, std::byte* data) {
    const std::byte* token = from.context.bases[static_cast<std::size_t>(internal::Base::token)];
    internal::name_knobs(data + to.knobs_at, internal::knobs_at(token + from.knobs_at));
}

template <Watching kWatching>
template <typename Alive>
void Worker::Tasks<kWatching>::finish(std::size_t part, const FrameMark& mark, Alive alive) {
    const Share& share = worker_.shares_[part];
    const bool begins = share.begins;
    const bool delivers = share.delivers;
    if (!(begins || delivers) || !alive()) return;
    worker_.begun_ += begins;
    if (!delivers || (mark.holes & kDroppedFrame)) return;
    const Branches& branches = worker_.branches_;
    if (!branches.empty() && (mark.holes & branches.last) == 0) return;
    const std::uint64_t skips = mark.holes & ~(worker_.options_.begun_holes | branches.all);
    ++(skips == 0 ? worker_.delivered_ : worker_.skipped_);
    watch_.delivered(mark);
}

template <Watching kWatching>
void Worker::Tasks<kWatching>::note_stop(const Share& share, const RunStep& step) const {
    const std::byte* token = share.context.bases[static_cast<std::size_t>(internal::Base::token)];
    const std::uint64_t frame =
        worker_.walk_.part(static_cast<std::size_t>(&share - worker_.shares_.data())).frame;
    StreamStop& stop = worker_.stops_.emplace_back(
        StreamStop{step.index, frame, worker_.number_of(share, frame, token), {}});
    if (share.has_knobs) stop.knobs = internal::knobs_at(token + share.knobs_at)->copy();
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::stop_for(const Share& share, const RunStep& step) {
    worker_.error_ = failure_in(share, step, std::current_exception());
    return Flow::stop;
}

template <Watching kWatching>
FrameFailure Worker::Tasks<kWatching>::failure_in(const Share& share, const RunStep& step,
                                                  std::exception_ptr cause) const {
    return {&step.step->task.name, worker_.stage_, worker_.replica_, share.context.number, std::move(cause)};
}

template <Watching kWatching>
template <typename Call>
Flow Worker::Tasks<kWatching>::guarded(const Share& share, const RunStep& step, Call call) {
    try {
        return call();
    } catch (const abi::__forced_unwind&) {
        lose_thread_in(share, step);
        throw;
    } catch (...) {
        return stop_for(share, step);
    }
}

// The stream ends there, as where the task throws; the walk still has to give its tokens to others.
template <Watching kWatching>
void Worker::Tasks<kWatching>::lose_thread_in(const Share& share, const RunStep& step) {
    const auto& part = worker_.walk_.part(static_cast<std::size_t>(&share - worker_.shares_.data()));
    worker_.lost_thread_ = true;
    worker_.state_.end_before(part.segment, part.frame, failure_in(share, step, nullptr));
}

// If no task was at work, the thread ended between two of them: no frame in flight is whole.
template <Watching kWatching>
void Worker::Tasks<kWatching>::loses_thread(const std::exception_ptr& why) {
    worker_.notes_.forget_observers();
    worker_.options_.stop_when = nullptr;
    if (std::exchange(worker_.lost_thread_, true)) return;
    worker_.state_.end_before(worker_.state_.segments() - 1, 0, FrameFailure{.cause = why});
}

// Behind all that tasks do: Clang makes no member of a template whose definition comes after this.
template <typename Use>
auto Worker::with_tasks(Use use) {
    switch (notes_.watching()) {
        case Watching::calls:
            return use(Tasks<Watching::calls>(*this));
        case Watching::times:
            return use(Tasks<Watching::times>(*this));
        case Watching::nothing:
            break;
    }
    return use(Tasks<Watching::nothing>(*this));
}

void Worker::run() {
    with_tasks([this](auto tasks) { walk_.run(tasks); });
    dropped_.pass();
}

void Worker::lose_thread(bool is_noted, const std::exception_ptr& why) {
    lost_thread_ = lost_thread_ || is_noted;
    with_tasks([&](auto tasks) { tasks.loses_thread(why); });
}

std::function<WalkStep()> Worker::steps() {
    return with_tasks([this](auto tasks) -> std::function<WalkStep()> {
        return [this, tasks]() mutable {
            const WalkStep step = walk_.step(tasks);
            if (step == WalkStep::over) dropped_.pass();
            return step;
        };
    });
}

}  // namespace tidemill
