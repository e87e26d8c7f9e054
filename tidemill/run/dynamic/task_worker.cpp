#include "tidemill/run/dynamic/task_worker.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <cxxabi.h>

#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/knobs/knob_table.hpp"
#include "tidemill/run/late.hpp"

namespace tidemill {

namespace {

std::size_t index_of(internal::Base base) {
    return static_cast<std::size_t>(base);
}

// A task that runs beside others on the same frame may skip it, too.
void add_hole(FrameMark& mark, std::uint64_t hole) {
    if (hole != 0) std::atomic_ref(mark.holes).fetch_or(hole, std::memory_order_relaxed);
}

std::uint64_t holes_of(FrameMark& mark) {
    return std::atomic_ref(mark.holes).load(std::memory_order_relaxed);
}

// Several tasks may be the first of a frame, if none waits for another.
void note_birth(FrameMark& mark) {
    std::uint64_t unborn = 0;
    std::atomic_ref(mark.born).compare_exchange_strong(unborn, ticks(), std::memory_order_relaxed);
}

std::uint64_t birth_of(FrameMark& mark) {
    return std::atomic_ref(mark.born).load(std::memory_order_relaxed) & ~kToldLate;
}

}  // namespace

FrameMemory::FrameMemory(const Plan& plan, const std::vector<DynamicUnit>& units,
                         const std::vector<std::uint32_t>& token_counts) {
    for (std::size_t s = 0; s < plan.segments.size(); ++s) {
        strides.push_back(aligned(plan.segments[s].token_bytes));
        tokens.emplace_back(strides.back() * token_counts[s]);
    }
    for (std::size_t k = 0; k < units.size(); ++k) {
        scratches.emplace_back(units[k].emits ? plan.stages[k].scratch_bytes : 0);
    }
    emissions.resize(units.size());
}

TaskWorker::TaskWorker(const Plan& plan, const std::vector<DynamicUnit>& units,
                       const std::vector<Module*>& modules, FrameMemory& memory, TaskBoard& board,
                       Options options)
    : options_(std::move(options)), has_knobs_(plan.has_knobs), branches_(plan.branches) {
    for (std::uint32_t s = 0; s < plan.segments.size(); ++s) {
        const std::span<FrameMark> marks = board.marks(s);
        tokens_.push_back({marks.data(), memory.tokens[s].data(), memory.strides[s],
                           static_cast<std::uint32_t>(marks.size()), plan.segments[s].knobs_at,
                           plan.segments[s].number_at});
    }
    std::size_t scratch_bytes = 0;
    for (const PlannedStage& stage : plan.stages)
        scratch_bytes = std::max(scratch_bytes, stage.scratch_bytes);
    scratch_ = Arena(scratch_bytes);
    for (std::size_t k = 0; k < units.size(); ++k) {
        const std::vector<Part>& parts = plan.stages[k].parts;
        units_.push_back({&units[k], PartSteps(plan, parts.front(), modules, options_.drops), std::nullopt,
                          units[k].emits ? memory.scratches[k].data() : scratch_.data(),
                          units[k].segment == 0 && units[k].predecessors.empty(), &memory.emissions[k]});
        if (units[k].emits) units_.back().behind_end.emplace(plan, parts.back(), modules, options_.drops);
    }
    if (options_.statistics || !options_.observers.empty()) step_times_.resize(plan.steps.size());
    late_.resize(step_times_.size(), 0);
    context_.stopping = options_.stopping;
    context_.place = &running_.carried.frame;
    // Constants are bound to inputs only, so nobody writes through this pointer.
    context_.bases[index_of(internal::Base::constant)] = plan.constants.data();
}

void TaskWorker::run(HeldRuns& held) {
    end_wait();
    if (ends_.capacity() < held.runs.size()) ends_.reserve(held.runs.size());
    if (!options_.observers.empty()) {
        run_all<Watching::calls>(held.runs);
    } else if (options_.statistics) {
        run_all<Watching::times>(held.runs);
    } else {
        run_all<Watching::nothing>(held.runs);
    }
    begun_ = 0;
    held.ends.swap(ends_);
}

template <Watching kWatching>
void TaskWorker::run_all(std::vector<TaskRun>& runs) {
    std::uint64_t before = ticks();
    while (begun_ < runs.size()) {
        TaskRun& run = runs[begun_++];
        for (const StreamEnd& end : ends_)
            run.limit = std::min(run.limit, end.limit_in(units_[run.unit].unit->segment).of(run.unit));
        run_frames<kWatching>(run);
        const std::uint64_t now = ticks();
        run.ticks = now - before;
        before = now;
    }
}

template <Watching kWatching>
void TaskWorker::run_frames(TaskRun& run) {
    RunUnit& unit = units_[run.unit];
    const std::uint64_t end = std::min(run.first.frame + run.frames, run.limit);
    context_.bases[index_of(internal::Base::scratch)] = unit.scratch;
    context_.end = &options_.ends->of(run.unit);
    try {
        const std::uint32_t segment = unit.unit->segment;
        const RunStep* const batched = unit.unit->batch > 1 ? unit.steps.batched() : nullptr;
        if (batched) return run_together<kWatching>(*batched, *unit.unit, run.first, end);
        for (CarriedFrame carried = run.first; carried.frame < end;
             carried = carried.next(tokens_[segment].count)) {
            begin(segment, carried);
            if (!run_frame<kWatching>(unit, run)) return end_stream(run.unit, std::nullopt);
        }
    } catch (const abi::__forced_unwind&) {
        end_stream(run.unit, failure_here(nullptr));
        throw;
    } catch (...) {
        end_stream(run.unit, failure_here(std::current_exception()));
    }
}

// Frames whose holes keep the task from running are left out. An error is the first one's of its batch.
template <Watching kWatching>
void TaskWorker::run_together(const RunStep& step, const DynamicUnit& unit, CarriedFrame first,
                              std::uint64_t end) {
    step_ = &step;
    for (CarriedFrame carried = first; carried.frame < end;
         carried = carried.next(tokens_[unit.segment].count)) {
        begin(unit.segment, carried);
        if (holes_of(*running_.mark) & step.holes) continue;
        if (step.copies) copy_all(step.step->before, context_);
        batch_.push_back(context_);
        batch_frames_.push_back(running_);
        if (batch_.size() == unit.batch) call_batch<kWatching>(step);
    }
    if (!batch_.empty()) call_batch<kWatching>(step);
}

template <Watching kWatching>
void TaskWorker::call_batch(const RunStep& step) {
    const std::vector<internal::FrameContext> frames = std::exchange(batch_, {});
    const std::vector<Running> places = std::exchange(batch_frames_, {});
    context_ = frames.front();
    running_ = places.front();
    if constexpr (kWatching == Watching::calls) {
        for (const internal::FrameContext& frame : frames)
            for (ThreadObserver* observer : options_.observers)
                observer->calling(step.step->task, frame.number);
    }
    const std::uint64_t start = ticks();
    step.info->batch_call(*step.module, step.code, Batch(frames, step.addresses));
    const std::uint64_t each = (ticks() - start) / frames.size();
    if constexpr (kWatching == Watching::nothing) return;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        context_ = frames[i];
        running_ = places[i];
        note_call<kWatching>(step, Flow::ok, start + i * each, start + (i + 1) * each);
    }
}

// Allocates nothing where a task failed: it may have failed for that there is no memory.
void TaskWorker::end_stream(std::uint32_t unit, std::optional<FrameFailure> failure) {
    StreamStop stop{step_->index, running_.carried.frame, number(), {}};
    if (!failure) stop.knobs = knobs_of_frame();
    ends_.push_back({running_.segment, {running_.carried.frame, unit}, std::move(failure), std::move(stop)});
}

void TaskWorker::give_up() {
    lose_thread();
    begun_ = std::numeric_limits<std::size_t>::max();
    ends_.push_back({static_cast<std::uint32_t>(tokens_.size() - 1), {}, FrameFailure{}, {}});
    ends_.back().limit = {0, 0};
}

FrameFailure TaskWorker::failure_here(std::exception_ptr cause) const {
    return {&step_->step->task.name, 0, options_.index, context_.number, std::move(cause)};
}

void TaskWorker::begin(std::uint32_t segment, CarriedFrame carried) {
    // One by one: copied as a whole, what was just stored in parts would have to reach the cache first.
    running_.mark = &tokens_[segment].marks[carried.token];
    running_.carried.frame = carried.frame;
    running_.carried.token = carried.token;
    running_.segment = segment;
    context_.bases[index_of(internal::Base::token)] = data_of(segment, carried.token);
    context_.number = options_.numbers.of(number());
    if (has_knobs_) look_up_knobs();
}

std::vector<std::byte> TaskWorker::knobs_of_frame() const {
    if (!has_knobs_) return {};
    const std::byte* data = data_of(running_.segment, running_.carried.token);
    return internal::knobs_at(data + tokens_[running_.segment].knobs_at)->copy();
}

void TaskWorker::look_up_knobs() {
    const std::byte* data = context_.bases[index_of(internal::Base::token)];
    const KnobTable* table = internal::knobs_at(data + tokens_[running_.segment].knobs_at);
    context_.bases[index_of(internal::Base::knobs)] = table->values.data();
    context_.teller = running_.segment == 0 ? options_.teller : nullptr;
}

// What comes of a frame began under the same values.
void TaskWorker::hand_knobs_on(std::byte* to) {
    const std::byte* data = context_.bases[index_of(internal::Base::token)];
    internal::name_knobs(to + tokens_[running_.segment + 1].knobs_at,
                         internal::knobs_at(data + tokens_[running_.segment].knobs_at));
}

// Whether the stream goes on.
template <Watching kWatching>
bool TaskWorker::run_frame(RunUnit& unit, TaskRun& run) {
    if constexpr (kWatching != Watching::nothing) {
        if (unit.begins_frames) note_birth(*running_.mark);
    }
    if (!run.resumed && !run_steps<kWatching>(unit.steps)) return false;
    const RunStep* end = unit.steps.end();
    const bool passes = end && !end->step->passages.empty();
    if (!end || (!passes && (holes_of(*running_.mark) & end->holes))) return true;
    return emit<kWatching>(unit, run);
}

template <Watching kWatching>
bool TaskWorker::run_steps(PartSteps& steps) {
    for (const RunStep* step = steps.first(); step;) {
        if (step->holes != 0 && (holes_of(*running_.mark) & step->holes)) {
            step = steps.leave_out(*step);
            continue;
        }
        step_ = step;
        std::uint64_t start = 0;
        if constexpr (kWatching != Watching::nothing) start = ticks();
        Flow flow = call<kWatching>(*step);
        const RunStep* next = step->next;
        if (flow == internal::kControlFlow) {
            next = steps.steer(*step, context_);
            flow = Flow::ok;
        }
        if constexpr (kWatching != Watching::nothing) note_call<kWatching>(*step, flow, start, ticks());
        if (flow != Flow::ok && !obey(*step, flow)) return false;
        step = next;
    }
    return true;
}

template <Watching kWatching>
Flow TaskWorker::call(const RunStep& step) {
    if constexpr (kWatching == Watching::calls) {
        for (ThreadObserver* observer : options_.observers)
            observer->calling(step.step->task, context_.number);
    }
    if (step.copies) copy_all(step.step->before, context_);
    const auto call_it = [&] { return step.call(*step.module, step.code, Frame(context_, step.addresses)); };
    if constexpr (kWatching != Watching::nothing) {
        if (options_.stretch) return options_.stretch->call(step.index, call_it);
    }
    return call_it();
}

template <Watching kWatching>
void TaskWorker::note_call(const RunStep& step, Flow flow, std::uint64_t start, std::uint64_t end) {
    step_times_[step.index].add(end - start);
    if (options_.deadline_ticks > 0) note_late(step, end);
    if constexpr (kWatching == Watching::times) return;
    const Frame frame(context_, step.addresses);
    for (ThreadObserver* observer : options_.observers) {
        observer->called(
            {step.index, step.step->task, *step.module, frame, flow, birth_of(*running_.mark), start, end});
    }
}

// Whoever runs when the deadline passes made the frame late, and of several at once the first that says so.
void TaskWorker::note_late(const RunStep& step, std::uint64_t end) {
    if (end - birth_of(*running_.mark) <= options_.deadline_ticks) return;
    const std::uint64_t before =
        std::atomic_ref(running_.mark->born).fetch_or(kToldLate, std::memory_order_relaxed);
    if (before & kToldLate) return;
    ++late_[step.index];
    if (options_.when_late) options_.when_late({context_.number, step.step->task.name});
}

// Whether the stream goes on.
bool TaskWorker::obey(const RunStep& step, Flow flow) {
    check_promise(*step.info, flow);
    if (flow == Flow::skip) add_hole(*running_.mark, step.step->task.own_hole);
    return flow != Flow::stop;
}

// Lets the task that ends the segment fill one frame of the next one, and does to that what comes right
// behind it.
template <Watching kWatching>
bool TaskWorker::emit(RunUnit& unit, TaskRun& run) {
    const RunStep& end = *unit.steps.end();
    context_.bases[index_of(internal::Base::next_token)] = data_of(running_.segment + 1, run.out.token);
    const Flow flow = branches_.empty() ? call_end<kWatching>(end, run) : emit_or_pass<kWatching>(unit, run);
    if (flow == Flow::stop) return false;
    if (flow == Flow::skip) return true;
    if (has_knobs_) hand_knobs_on(data_of(running_.segment + 1, run.out.token));
    run.emitted = true;
    run.again = flow == Flow::again;
    if (!unit.behind_end->first()) return true;
    begin(running_.segment + 1, run.out);
    return run_steps<kWatching>(*unit.behind_end);
}

template <Watching kWatching>
Flow TaskWorker::call_end(const RunStep& end, const TaskRun& run) {
    step_ = &end;
    std::uint64_t start = 0;
    if constexpr (kWatching != Watching::nothing) start = ticks();
    Flow flow = call<kWatching>(end);
    if constexpr (kWatching != Watching::nothing) note_call<kWatching>(end, flow, start, ticks());
    if (!obey(end, flow)) return Flow::stop;
    if (flow == Flow::skip) return flow;
    flow = units_[run.unit].emission->again.heed(flow, options_.stop);
    copy_all(end.step->on_emit, context_);
    tokens_[running_.segment + 1].marks[run.out.token] = {
        holes_of(*running_.mark), std::atomic_ref(running_.mark->born).load(std::memory_order_relaxed)};
    return flow;
}

// First what the task emits, if the frame is of its branch, then the frame itself, where others need it.
template <Watching kWatching>
Flow TaskWorker::emit_or_pass(RunUnit& unit, const TaskRun& run) {
    const RunStep& end = *unit.steps.end();
    const std::uint64_t holes = holes_of(*running_.mark);
    const bool has_more = !unit.emission->must_pass && (holes & end.holes) == 0;
    const Flow flow = has_more ? call_end<kWatching>(end, run) : Flow::skip;
    unit.emission->must_pass = flow == Flow::ok;
    if (flow == Flow::stop) return flow;
    if (flow == Flow::skip) return pass(end, run);
    tokens_[running_.segment + 1].marks[run.out.token].holes =
        (holes & ~branches_.all) | branches_.bits[running_.segment + 1];
    set_number(run, unit.emission->next_number++);
    return Flow::again;
}

// Skip: nobody behind needs it.
Flow TaskWorker::pass(const RunStep& end, const TaskRun& run) {
    const std::uint64_t holes = holes_of(*running_.mark);
    for (const Passage& passage : end.step->passages) {
        if ((holes & passage.branch) == 0) continue;
        copy_all(passage.copies, context_);
        tokens_[running_.segment + 1].marks[run.out.token] = {
            holes, std::atomic_ref(running_.mark->born).load(std::memory_order_relaxed)};
        set_number(run, number());
        return Flow::ok;
    }
    return Flow::skip;
}

// Of the frame that runs, in its branch.
std::uint64_t TaskWorker::number() const {
    std::uint64_t number = running_.carried.frame;
    if (branches_.empty() || running_.segment == 0) return number;
    const std::byte* data = data_of(running_.segment, running_.carried.token);
    std::memcpy(&number, data + tokens_[running_.segment].number_at, sizeof(number));
    return number;
}

void TaskWorker::set_number(const TaskRun& run, std::uint64_t number) {
    std::byte* data = data_of(running_.segment + 1, run.out.token);
    std::memcpy(data + tokens_[running_.segment + 1].number_at, &number, sizeof(number));
}

void TaskWorker::rests() {
    if (wait_start_ != 0) return;
    wait_start_ = ticks();
    for (ThreadObserver* observer : options_.observers) observer->waiting(0, false);
}

void TaskWorker::end_wait() {
    if (wait_start_ == 0) return;
    const std::uint64_t end = ticks();
    waits_.add(end - wait_start_);
    for (ThreadObserver* observer : options_.observers) observer->waited({0, 0, false, wait_start_, end});
    wait_start_ = 0;
}

}  // namespace tidemill
