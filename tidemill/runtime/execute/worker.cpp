#include "tidemill/runtime/execute/worker.hpp"

#include <algorithm>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/execute/late.hpp"

namespace tidemill {

/// The work that a worker does on its walk, compiled once per amount of watching.
template <Watching kWatching>
class Worker::Tasks {
  public:
    explicit Tasks(Worker& worker)
        : worker_(worker), runner_(*this, worker.notes_, worker.branches_, worker.options_.stop) {}
    Tasks(const Tasks& other) : Tasks(other.worker_) {}
    Tasks& operator=(const Tasks&) = delete;

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
        return runner_.watch().template waited<Token>(part, take);
    }
    void loses_thread(const std::exception_ptr& why = nullptr);

    // FrameRunner calls these:
    template <typename Call>
    static Flow call(const RunStep& /*step*/, Call call) {
        return call();
    }
    void note_stop(const FramePart& part, const RunStep& step) const;
    void note_failure(const FramePart& part, const RunStep& step, std::exception_ptr cause) const {
        worker_.error_ = failure_in(part, step, std::move(cause));
    }
    void note_unwind(const FramePart& part, const RunStep& step) const;

  private:
    void begin(Token& token, std::uint32_t frame, const FrameMark& mark);
    void gather(std::span<const StageWalk::FrameAt> frames, GatheredCall& call) const;
    FrameFailure failure_in(const FramePart& part, const RunStep& step, std::exception_ptr cause) const;

    Worker& worker_;
    FrameRunner<OwnMarks, kWatching, Tasks> runner_;
};

template <Watching kWatching>
void Worker::Tasks<kWatching>::begin(Token& token, std::uint32_t frame) {
    const std::uint64_t number = token.first_frame + frame;
    const bool dropped = worker_.dropped_.replays(number);
    if (!dropped) worker_.dropped_.pass();
    begin(token, frame,
          {worker_.options_.begun_holes | (dropped ? kDroppedFrame : 0), runner_.watch().stamp()});
}

// It may be lost itself, or an older one.
template <Watching kWatching>
void Worker::Tasks<kWatching>::begin_late(Token& spare) {
    const bool is_lost = worker_.options_.late == Late::drop_newest;
    const std::uint64_t holes = worker_.options_.begun_holes | (is_lost ? kDroppedFrame : 0);
    begin(spare, 0, {holes, runner_.watch().stamp() | (is_lost ? kToldLate : 0)});
}

template <Watching kWatching>
void Worker::Tasks<kWatching>::begin(Token& token, std::uint32_t frame, const FrameMark& mark) {
    const Share& share = worker_.shares_.front();
    const std::uint64_t number = token.first_frame + frame;
    token.mark(frame) = mark;
    share.words.set_number(token.data(frame), number);
    if (!share.words.has_knobs) return;
    internal::name_knobs(token.data(frame) + share.words.knobs_at,
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
    Share added{{plan, part, modules, drops()}, begins, delivers};
    if (part.segment + 1 < plan.segments.size())
        added.emission.next_number = options_.first_frames[part.segment + 1];
    added.context.stopping = state_.halting_flag();
    added.context.end = state_.ring(part.segment).limit_word();
    if (part.segment == 0) added.context.teller = options_.teller;
    added.context.bases[index_of(internal::Base::scratch)] = scratch_.data();
    return added;
}

std::uint64_t Worker::next_frame(std::uint32_t branch) const {
    if (begins_frames() && branch == options_.first_branch) return walk_.part(0).next_frame;
    for (std::size_t i = 0; i + 1 < walk_.parts(); ++i) {
        if (walk_.part(i + 1).segment != branch) continue;
        return branches_.empty() ? walk_.part(i + 1).next_frame : shares_[i].emission.next_number;
    }
    return options_.first_frames[branch];
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
    share.begin(worker_.walk_.part(part).frame, token.data(frame), worker_.options_.notes.numbers);
    return runner_.run_steps(share, token.mark(frame));
}

// Frames whose holes keep the task from running are left out.
template <Watching kWatching>
void Worker::Tasks<kWatching>::gather(std::span<const StageWalk::FrameAt> frames, GatheredCall& call) const {
    Share& share = worker_.shares_.front();
    const RunStep& step = *share.steps.batched();
    call.clear();
    for (const StageWalk::FrameAt& at : frames) {
        if (at.mark().holes & step.holes) continue;
        share.begin(at.number(), at.token->data(at.frame), worker_.options_.notes.numbers);
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
    return runner_.guarded(share, step, [&] {
        if (!step.info->flight) {
            runner_.call_batch(step, gathered.contexts, gathered.marks);
            return Flow::ok;
        }
        for (const internal::FrameContext& frame : gathered.contexts)
            runner_.watch().calling(step, frame.number);
        const std::uint64_t start = runner_.watch().stamp();
        const Batch batch(gathered.contexts, step.addresses);
        step.info->flight->begin(*step.module, batch, worker_.gathered_.place_to_begin());
        gathered.begin_ticks = runner_.watch().stamp() - start;
        worker_.gathered_.has_begun();
        return Flow::again;
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
    const std::uint64_t start = runner_.watch().stamp() - gathered.begin_ticks;
    return runner_.guarded(share, step, [&] {
        step.info->flight->end(*step.module, Batch(gathered.contexts, step.addresses), place);
        runner_.watch().called(step, gathered.contexts, gathered.marks, start);
        return Flow::ok;
    });
}

template <Watching kWatching>
Flow Worker::Tasks<kWatching>::emit(std::size_t part, FrameMark& mark, Token& out) {
    Share& share = worker_.shares_[part];
    return runner_.emit(share, mark, share.emission,
                        {out.data(out.frames), out.mark(out.frames), worker_.shares_[part + 1].words});
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
    runner_.watch().delivered(mark);
}

template <Watching kWatching>
void Worker::Tasks<kWatching>::note_stop(const FramePart& part, const RunStep& step) const {
    const std::uint64_t frame = *part.context.place;
    const std::byte* token = part.context.bases[index_of(internal::Base::token)];
    worker_.stops_.push_back(
        {step.index, frame, part.words.number(frame, token), part.words.copy_of_knobs(part.context)});
}

template <Watching kWatching>
FrameFailure Worker::Tasks<kWatching>::failure_in(const FramePart& part, const RunStep& step,
                                                  std::exception_ptr cause) const {
    return {&step.step->task.name, worker_.stage_, worker_.replica_, part.context.number, std::move(cause)};
}

// The stream ends there, as where the task throws; the walk still has to give its tokens to others.
template <Watching kWatching>
void Worker::Tasks<kWatching>::note_unwind(const FramePart& part, const RunStep& step) const {
    const StageWalk::Part& walked = worker_.walked(static_cast<const Share&>(part));
    worker_.lost_thread_ = true;
    worker_.state_.end_before(walked.segment, walked.frame, failure_in(part, step, nullptr));
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
