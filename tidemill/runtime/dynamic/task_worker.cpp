#include "tidemill/runtime/dynamic/task_worker.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

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

/// The work on the runs that a worker holds, compiled once per amount of watching.
template <Watching kWatching>
class TaskWorker::Tasks {
  public:
    explicit Tasks(TaskWorker& worker)
        : worker_(worker), runner_(*this, worker.notes_, worker.branches_, worker.options_.stop) {}

    void run_all(std::vector<TaskRun>& runs);

    // FrameRunner calls these:
    template <typename Call>
    Flow call(const RunStep& step, Call call) {
        if constexpr (kWatching != Watching::nothing) {
            if (worker_.options_.stretch) return worker_.options_.stretch->call(step.index, call);
        }
        return call();
    }
    void note_stop(const FramePart& part, const RunStep& step) {
        end_stream(std::nullopt, {step.index, running().carried.frame, number_in(part),
                                  part.words.copy_of_knobs(part.context)});
    }
    // Allocates nothing, as there may be no memory left.
    void note_failure(const FramePart& part, const RunStep& step, std::exception_ptr cause) {
        end_stream(FrameFailure{&step.step->task.name, 0, worker_.options_.index, part.context.number,
                                std::move(cause)},
                   {step.index, running().carried.frame, number_in(part), {}});
    }
    void note_unwind(const FramePart& part, const RunStep& step) { note_failure(part, step, nullptr); }

  private:
    void run_frames(TaskRun& run);
    bool run_frame(RunUnit& unit, TaskRun& run);
    void run_together(RunUnit& unit, const RunStep& step, CarriedFrame first, std::uint64_t end);
    void call_batch(FramePart& part, const RunStep& step);
    bool emit(RunUnit& unit, TaskRun& run);
    void begin(FramePart& part, std::uint32_t segment, CarriedFrame carried);
    void end_stream(std::optional<FrameFailure> failure, StreamStop stop);
    Running& running() { return worker_.running_; }
    std::uint64_t number_in(const FramePart& part) {
        return part.words.number(running().carried.frame,
                                 part.context.bases[index_of(internal::Base::token)]);
    }

    TaskWorker& worker_;
    FrameRunner<SharedMarks, kWatching, Tasks> runner_;
    std::uint32_t unit_ = 0;  // that runs
};

TaskWorker::TaskWorker(const Plan& plan, const std::vector<DynamicUnit>& units,
                       const std::vector<Module*>& modules, FrameMemory& memory, TaskBoard& board,
                       Options options)
    : options_(std::move(options)), notes_(options_.notes), branches_(plan.branches) {
    for (std::uint32_t s = 0; s < plan.segments.size(); ++s) {
        const std::span<FrameMark> marks = board.marks(s);
        tokens_.push_back({marks.data(), memory.tokens[s].data(), memory.strides[s],
                           static_cast<std::uint32_t>(marks.size()), TokenWords(plan, s)});
    }
    std::size_t scratch_bytes = 0;
    for (const PlannedStage& stage : plan.stages)
        scratch_bytes = std::max(scratch_bytes, stage.scratch_bytes);
    scratch_ = Arena(scratch_bytes);
    for (std::size_t k = 0; k < units.size(); ++k) {
        const std::vector<Part>& parts = plan.stages[k].parts;
        std::byte* const scratch = units[k].emits ? memory.scratches[k].data() : scratch_.data();
        units_.push_back({&units[k], part_of(plan, k, parts.front(), scratch, modules), std::nullopt,
                          units[k].segment == 0 && units[k].predecessors.empty(), &memory.emissions[k]});
        if (units[k].emits)
            units_.back().behind_end.emplace(part_of(plan, k, parts.back(), scratch, modules));
    }
    for (std::uint32_t step = 0; step < plan.steps.size(); ++step) notes_.add_step(step);
}

FramePart TaskWorker::part_of(const Plan& plan, std::size_t unit, const Part& part, std::byte* scratch,
                              const std::vector<Module*>& modules) {
    FramePart made(plan, part, modules, options_.drops);
    made.context.bases[index_of(internal::Base::scratch)] = scratch;
    made.context.stopping = options_.stopping;
    made.context.place = &running_.carried.frame;
    made.context.end = &options_.ends->of(static_cast<std::uint32_t>(unit));
    if (part.segment == 0) made.context.teller = options_.teller;
    return made;
}

void TaskWorker::run(HeldRuns& held) {
    end_wait();
    if (ends_.capacity() < held.runs.size()) ends_.reserve(held.runs.size());
    switch (notes_.watching()) {
        case Watching::calls:
            Tasks<Watching::calls>(*this).run_all(held.runs);
            break;
        case Watching::times:
            Tasks<Watching::times>(*this).run_all(held.runs);
            break;
        case Watching::nothing:
            Tasks<Watching::nothing>(*this).run_all(held.runs);
    }
    begun_ = 0;
    held.ends.swap(ends_);
}

template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::run_all(std::vector<TaskRun>& runs) {
    std::uint64_t before = ticks();
    while (worker_.begun_ < runs.size()) {
        TaskRun& run = runs[worker_.begun_++];
        for (const StreamEnd& end : worker_.ends_)
            run.limit =
                std::min(run.limit, end.limit_in(worker_.units_[run.unit].unit->segment).of(run.unit));
        run_frames(run);
        const std::uint64_t now = ticks();
        run.ticks = now - before;
        before = now;
    }
}

template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::run_frames(TaskRun& run) {
    unit_ = run.unit;
    RunUnit& unit = worker_.units_[run.unit];
    const std::uint32_t segment = unit.unit->segment;
    const std::uint64_t end = std::min(run.first.frame + run.frames, run.limit);
    const RunStep* const batched = unit.unit->batch > 1 ? unit.part.steps.batched() : nullptr;
    if (batched) return run_together(unit, *batched, run.first, end);
    for (CarriedFrame carried = run.first; carried.frame < end;
         carried = carried.next(worker_.tokens_[segment].count)) {
        begin(unit.part, segment, carried);
        if (!run_frame(unit, run)) return;
    }
}

// Frames whose holes keep the task from running are left out. An error is the first one's of its batch.
template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::run_together(RunUnit& unit, const RunStep& step, CarriedFrame first,
                                                std::uint64_t end) {
    FramePart& part = unit.part;
    const std::uint32_t segment = unit.unit->segment;
    worker_.batch_.clear();
    worker_.batch_frames_.clear();
    runner_.guarded(part, step, [&] {
        for (CarriedFrame carried = first; carried.frame < end;
             carried = carried.next(worker_.tokens_[segment].count)) {
            begin(part, segment, carried);
            if (SharedMarks::has_any(*running().mark, step.holes)) continue;
            if (step.copies) copy_all(step.step->before, part.context);
            worker_.batch_.add(part.context, *running().mark);
            worker_.batch_frames_.push_back(running());
            if (worker_.batch_frames_.size() == unit.unit->batch) call_batch(part, step);
        }
        if (!worker_.batch_frames_.empty()) call_batch(part, step);
        return Flow::ok;
    });
}

template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::call_batch(FramePart& part, const RunStep& step) {
    part.context = worker_.batch_.contexts.front();
    running() = worker_.batch_frames_.front();
    runner_.call_batch(step, worker_.batch_.contexts, worker_.batch_.marks);
    worker_.batch_.clear();
    worker_.batch_frames_.clear();
}

// Whether the stream goes on.
template <Watching kWatching>
bool TaskWorker::Tasks<kWatching>::run_frame(RunUnit& unit, TaskRun& run) {
    FrameMark& mark = *running().mark;
    if constexpr (kWatching != Watching::nothing) {
        if (unit.begins_frames) SharedMarks::note_birth(mark, ticks());
    }
    const RunStep* const end = unit.part.steps.end();
    const Flow flow = run.resumed ? Flow::ok : runner_.run_steps(unit.part, mark);
    if (!end || flow != Flow::ok) return flow != Flow::stop;
    return emit(unit, run);
}

// Lets the task that ends the segment fill one frame of the next one, and does to that what comes right
// behind it.
template <Watching kWatching>
bool TaskWorker::Tasks<kWatching>::emit(RunUnit& unit, TaskRun& run) {
    const std::uint32_t next = running().segment + 1;
    const Tokens& tokens = worker_.tokens_[next];
    const Flow flow =
        runner_.emit(unit.part, *running().mark, *unit.emission,
                     {worker_.data_of(next, run.out.token), tokens.marks[run.out.token], tokens.words});
    if (flow == Flow::stop || flow == Flow::skip) return flow == Flow::skip;
    run.emitted = true;
    run.again = flow == Flow::again;
    if (!unit.behind_end->steps.first()) return true;
    begin(*unit.behind_end, next, run.out);
    return runner_.run_steps(*unit.behind_end, *running().mark) != Flow::stop;
}

template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::begin(FramePart& part, std::uint32_t segment, CarriedFrame carried) {
    // One by one: copied as a whole, what was just stored in parts would have to reach the cache first.
    running().mark = &worker_.tokens_[segment].marks[carried.token];
    running().carried.frame = carried.frame;
    running().carried.token = carried.token;
    running().segment = segment;
    part.begin(carried.frame, worker_.data_of(segment, carried.token), worker_.options_.notes.numbers);
}

template <Watching kWatching>
void TaskWorker::Tasks<kWatching>::end_stream(std::optional<FrameFailure> failure, StreamStop stop) {
    worker_.ends_.push_back(
        {running().segment, {running().carried.frame, unit_}, std::move(failure), std::move(stop)});
}

void TaskWorker::give_up() {
    lose_thread();
    begun_ = std::numeric_limits<std::size_t>::max();
    ends_.push_back({static_cast<std::uint32_t>(tokens_.size() - 1), {}, FrameFailure{}, {}});
    ends_.back().limit = {0, 0};
}

void TaskWorker::rests() {
    if (wait_start_ != 0) return;
    wait_start_ = ticks();
    notes_.rests();
}

void TaskWorker::end_wait() {
    if (wait_start_ == 0) return;
    notes_.rested(wait_start_);
    wait_start_ = 0;
}

}  // namespace tidemill
