#include "tidemill/run/dynamic/task_board.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

using policy::TaskSlot;
using policy::WorkerId;

TaskBoard::TaskBoard(const std::vector<Kernel>& kernels, Settings settings)
    : settings_(std::move(settings)),
      policy_(policy::make_policy(settings_.policy, settings_.kinds, settings_.adapting)),
      wants_predecessors_(policy_->wants_predecessors()) {
    for (std::size_t s = 0; s < settings_.tokens.size(); ++s)
        segments_.push_back({FramesInFlight(settings_.tokens[s], settings_.first_frames[s])});
    for (const Kernel& kernel : kernels) add_kernel(kernel);
    waits_for_.resize(tasks_.size(), 0);
    FramesInFlight& source = segments_[0].frames;
    issued_end_ = source.next().frame;
    if (settings_.frames != TokenRing::kEndless) source.end_at(issued_end_ + settings_.frames);
    if (!wants_predecessors_) learn_edges();
    create_source_frames();
}

void TaskBoard::add_kernel(const Kernel& kernel) {
    Segment& segment = segments_[kernel.segment];
    const auto index = static_cast<std::uint32_t>(kernels_.size());
    const auto first_slot = static_cast<std::uint32_t>(tasks_.size());
    const bool goes_on = kernel.sequential && !kernel.emits;
    kernels_.push_back({&kernel, first_slot, first_slot + segment.frames.tokens(),
                        ready_.place_of(kernel.kinds), goes_on, first_slot, segment.frames.next().frame});
    segment.kernels.push_back(index);
    for (std::uint32_t t = 0; t < segment.frames.tokens(); ++t) tasks_.push_back({index, t});
}

void TaskBoard::learn_edges() {
    for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
        const Kernel& kernel = *kernels_[k].kernel;
        for (const std::uint32_t p : kernel.predecessors) policy_->learn(p, k, k - p);
        if (kernel.sequential)
            policy_->learn(k, k, static_cast<double>(segments_[kernel.segment].kernels.size()));
        if (!kernel.emits || kernel.segment + 1 == segments_.size()) continue;
        for (const std::uint32_t next : segments_[kernel.segment + 1].kernels) {
            if (kernels_[next].kernel->predecessors.empty()) policy_->learn(k, next, next - k);
        }
    }
}

TaskSlot TaskBoard::slot_of(std::uint32_t kernel, std::uint32_t token) const {
    return kernels_[kernel].first_slot + token;
}

// The same kernel's task on the frame behind.
TaskSlot TaskBoard::slot_after(const KernelState& kernel, TaskSlot slot) const {
    return slot + 1 == kernel.end_slot ? kernel.first_slot : slot + 1;
}

std::uint64_t TaskBoard::frame_of(const TaskState& task) const {
    return segments_[kernels_[task.kernel].kernel->segment].frames.frame_in(task.token);
}

void TaskBoard::create_source_frames() {
    FramesInFlight& source = segments_[0].frames;
    while (!source.full() && source.next().frame < source.end()) {
        if (settings_.stop_when && settings_.stop_when()) return source.end_at(source.next().frame);
        source.marks()[source.next().token] = {};
        create_frame(0, source.next().frame);
    }
}

void TaskBoard::create_frame(std::uint32_t index, std::uint64_t iteration) {
    Segment& segment = segments_[index];
    const auto [frame, token] =
        segment.frames.create(iteration, static_cast<std::uint32_t>(segment.kernels.size()));
    ++in_flight_;
    for (const std::uint32_t k : segment.kernels) {
        const KernelState& state = kernels_[k];
        const TaskSlot slot = state.first_slot + token;
        waits_for_[slot] = static_cast<std::uint32_t>(state.kernel->predecessors.size()) +
                           (state.kernel->sequential && state.next_frame != frame ? 1 : 0);
        create_task(slot, iteration);
        note_fewer_waits(k, token);
    }
}

void TaskBoard::create_task(TaskSlot slot, std::uint64_t iteration) {
    const TaskState& task = tasks_[slot];
    predecessors_.clear();
    if (wants_predecessors_) list_predecessors(task);
    const policy::KindSet kinds = kernels_[task.kernel].kernel->kinds;
    policy_->create({slot, task.kernel, numbers_++, iteration, 0, predecessors_, kinds});
}

void TaskBoard::list_predecessors(const TaskState& task) {
    const Kernel& kernel = *kernels_[task.kernel].kernel;
    const FramesInFlight& frames = segments_[kernel.segment].frames;
    for (const std::uint32_t p : kernel.predecessors) predecessors_.push_back(slot_of(p, task.token));
    if (kernel.sequential && frame_of(task) > frames.oldest().frame) {
        const std::uint32_t before = task.token == 0 ? frames.tokens() - 1 : task.token - 1;
        predecessors_.push_back(slot_of(task.kernel, before));
    }
}

void TaskBoard::make_ready(TaskSlot slot) {
    const Kernel& kernel = *kernels_[tasks_[slot].kernel].kernel;
    if (kernel.emits && segments_[kernel.segment + 1].frames.full()) {
        segments_[kernel.segment + 1].blocked = slot;
    } else {
        tell_ready(slot);
    }
}

void TaskBoard::tell_ready(TaskSlot slot) {
    TaskState& task = tasks_[slot];
    KernelState& state = kernels_[task.kernel];
    task.ready_ticks = state.mean_ticks.value_or(settings_.bundle_ticks);
    if (state.goes_on) task.ready_ticks += state.lined_up * state.mean_ticks.value();
    state.ready = slot;
    ready_.add(state.ready_place, task.ready_ticks);
    policy_->ready(slot);
}

// A task may be ready now, or behind one that is.
void TaskBoard::note_fewer_waits(std::uint32_t kernel, std::uint32_t token) {
    KernelState& state = kernels_[kernel];
    const TaskSlot slot = state.first_slot + token;
    if (waits_for_[slot] == 0) return make_ready(slot);
    if (waits_for_[slot] > 1 || !state.goes_on || state.next_slot == slot) return;
    ++state.lined_up;
    if (state.ready == policy::kNoTask) return;
    tasks_[state.ready].ready_ticks += state.mean_ticks.value();
    ready_.add_behind(state.ready_place, state.mean_ticks.value());
}

void TaskBoard::take(WorkerId worker, std::size_t hungry, std::vector<TaskRun>& runs) {
    const ReadyWork::Amount ready = ready_.of(settings_.kinds[worker]);
    std::size_t share = std::min(kMostRuns, (ready.tasks + hungry) / (hungry + 1));
    const std::uint64_t most_ticks = std::min(settings_.bundle_ticks, ready.ticks / (hungry + 1));
    std::uint64_t ticks = 0;
    for (; share > 0; --share) {
        const TaskSlot slot = policy_->issue(worker);
        if (slot == policy::kNoTask) return;
        TaskRun run = issue(slot);
        const std::uint64_t mean = kernels_[run.kernel].mean_ticks.value();
        const std::uint64_t left = most_ticks - ticks;
        if (mean != 0 && mean < left) lengthen(run, left - mean);
        runs.push_back(run);
        ticks += mean * run.frames;
        if (mean == 0 || ticks >= most_ticks) return;
    }
}

TaskRun TaskBoard::issue(TaskSlot slot) {
    const TaskState& task = tasks_[slot];
    KernelState& state = kernels_[task.kernel];
    const FramesInFlight& frames = segments_[state.kernel->segment].frames;
    ready_.remove(state.ready_place, task.ready_ticks);
    state.ready = policy::kNoTask;
    TaskRun run{.kernel = task.kernel,
                .frames = 1,
                .first = {frames.frame_in(task.token), task.token},
                .limit = frames.limit().of(task.kernel)};
    if (state.kernel->emits) {
        run.out = segments_[state.kernel->segment + 1].frames.next();
        run.resumed = std::exchange(state.resumes, false);
    }
    if (state.kernel->segment == 0) issued_end_ = std::max(issued_end_, run.first.frame + 1);
    return run;
}

// A sequential kernel's next tasks may be ready but for the task before them: who runs that may go on with
// them.
void TaskBoard::lengthen(TaskRun& run, std::uint64_t ticks_left) {
    const KernelState& state = kernels_[run.kernel];
    if (!state.goes_on) return;
    const std::uint64_t frames_end = segments_[state.kernel->segment].frames.next().frame;
    const std::uint64_t most =
        std::min({std::uint64_t{kLongestRun}, 1 + ticks_left / state.mean_ticks.value(),
                  frames_end - run.first.frame});
    TaskSlot slot = slot_after(state, slot_of(run.kernel, run.first.token));
    for (; run.frames < most && waits_for_[slot] == 1; ++run.frames) slot = slot_after(state, slot);
    if (state.kernel->segment == 0) issued_end_ = std::max(issued_end_, run.first.frame + run.frames);
}

std::uint64_t TaskBoard::expected_ticks(const std::vector<TaskRun>& runs) const {
    std::uint64_t ticks = 0;
    for (const TaskRun& run : runs) {
        const MeanTicks& mean = kernels_[run.kernel].mean_ticks;
        ticks += mean.known() ? mean.value() * run.frames : settings_.bundle_ticks;
    }
    return ticks;
}

void TaskBoard::complete(WorkerId worker, std::vector<TaskRun>& runs, std::uint64_t now) {
    for (const TaskRun& run : runs) {
        kernels_[run.kernel].mean_ticks.note(run.ticks / run.frames);
        complete(worker, run, now);
    }
    runs.clear();
    policy_->tick(static_cast<std::uint64_t>(to_ns(now)));
}

void TaskBoard::complete(WorkerId worker, const TaskRun& run, std::uint64_t now) {
    KernelState& state = kernels_[run.kernel];
    const std::uint32_t segment = state.kernel->segment;
    const std::uint64_t iteration = segments_[segment].frames.iteration_in(run.first.token);
    TaskSlot slot = slot_of(run.kernel, run.first.token);
    if (run.kernel == 0 && !run.again) {
        const std::uint64_t end = std::min(run.first.frame + run.frames, segments_[0].frames.limit().frame);
        begun_ += end - std::min(end, run.first.frame);
    }
    for (std::uint32_t i = 0; i < run.frames; ++i, slot = slot_after(state, slot)) {
        // The policy took the worker for idle after the task before.
        policy_->follow(slot, worker);
        policy_->complete(slot, worker);
        if (run.emitted) {
            create_frame(segment + 1, iteration);
            if (segments_[segment + 1].kernels.empty()) retire(segment + 1, now);
        }
        if (run.again) {
            state.resumes = true;
            create_task(slot, iteration);
            make_ready(slot);
        } else {
            complete_task(slot, i + 1 == run.frames, now);
        }
    }
}

void TaskBoard::complete_task(TaskSlot slot, bool last_of_run, std::uint64_t now) {
    const TaskState& task = tasks_[slot];
    KernelState& state = kernels_[task.kernel];
    const std::uint32_t index = state.kernel->segment;
    FramesInFlight& frames = segments_[index].frames;
    for (const std::uint32_t successor : state.kernel->successors) {
        --waits_for_[slot_of(successor, task.token)];
        note_fewer_waits(successor, task.token);
    }
    if (state.kernel->sequential) {
        ++state.next_frame;
        const TaskSlot next = state.next_slot = slot_after(state, slot);
        if (state.next_frame < frames.next().frame && --waits_for_[next] == 0) {
            if (state.goes_on) --state.lined_up;
            if (last_of_run) make_ready(next);
        }
    }
    frames.complete_task(task.token);
    if (task.token == frames.oldest().token) retire(index, now);
}

// Frees the tokens of the oldest frames that are done.
void TaskBoard::retire(std::uint32_t index, std::uint64_t now) {
    Segment& segment = segments_[index];
    if (!segment.frames.can_retire()) return;
    while (segment.frames.can_retire()) {
        const auto [frame, token] = segment.frames.retire();
        --in_flight_;
        if (index + 1 < segments_.size() || frame >= segment.frames.limit().frame) continue;
        const FrameMark& mark = segment.frames.marks()[token];
        ++(mark.holes == 0 ? delivered_ : skipped_);
        if (settings_.latencies) latencies_.add(now - mark.born);
    }
    if (index == 0) create_source_frames();
    if (segment.blocked) tell_ready(*std::exchange(segment.blocked, std::nullopt));
}

// The sequence would have met the end in the last segment first, there on the first frame, there at the first
// kernel.
void TaskBoard::end(StreamEnd where) {
    const auto sooner = [](const StreamEnd& a, const StreamEnd& b) {
        return std::tuple(b.segment, a.limit) < std::tuple(a.segment, b.limit);
    };
    for (std::uint32_t s = 0; s <= where.segment; ++s) segments_[s].frames.limit_to(where.limit_in(s));
    FramesInFlight& source = segments_[0].frames;
    source.end_at(source.next().frame);
    if (!end_ || sooner(where, *end_)) end_ = std::move(where);
}

void TaskBoard::halt() {
    FramesInFlight& source = segments_[0].frames;
    source.end_at(source.next().frame);
    if (issued_end_ < source.limit().frame) source.limit_to({issued_end_, 0});
}

std::vector<std::uint64_t> TaskBoard::next_frames() const {
    std::vector<std::uint64_t> numbers;
    for (const Segment& segment : segments_) numbers.push_back(segment.frames.next().frame);
    numbers[0] = std::min(numbers[0], std::max(issued_end_, settings_.first_frames[0]));
    return numbers;
}

void TaskBoard::rethrow() const {
    if (end_ && end_->error) throw *end_->error;
}

}  // namespace tidemill
