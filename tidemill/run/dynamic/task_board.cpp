#include "tidemill/run/dynamic/task_board.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

using policy::TaskSlot;
using policy::WorkerId;

TaskBoard::TaskBoard(const std::vector<Kernel>& kernels, Settings settings)
    : settings_(std::move(settings)),
      ready_(policy::make_policy(settings_.policy, settings_.kinds, settings_.adapting), settings_.kinds,
             settings_.bundle_ticks),
      segments_(settings_.tokens.size()),
      ends_(settings_.first_frames.front()) {
    for (std::size_t s = 0; s < segments_.size(); ++s)
        frames_.emplace_back(settings_.tokens[s], settings_.first_frames[s]);
    for (const Kernel& kernel : kernels) add_kernel(kernel);
    ready_.resize(kernel_of_slot_.size());
    if (settings_.frames != TokenRing::kEndless)
        frames_[0].end_at(settings_.first_frames[0] + settings_.frames);
    if (!ready_.wants_predecessors()) learn_edges();
    create_source_frames();
}

void TaskBoard::add_kernel(const Kernel& kernel) {
    const auto index = static_cast<std::uint32_t>(kernels_.size());
    const auto first_slot = static_cast<TaskSlot>(kernel_of_slot_.size());
    const FramesInFlight& frames = frames_[kernel.segment];
    kernels_.emplace_back(kernel, first_slot, frames.next(), frames.tokens(), ready_.group_of(kernel.kinds));
    segments_[kernel.segment].kernels.push_back(index);
    kernel_of_slot_.insert(kernel_of_slot_.end(), frames.tokens(), index);
}

void TaskBoard::learn_edges() {
    policy::Policy& policy = ready_.policy();
    for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
        const Kernel& kernel = kernels_[k].kernel();
        for (const std::uint32_t p : kernel.predecessors) policy.learn(p, k, k - p);
        if (kernel.sequential)
            policy.learn(k, k, static_cast<double>(segments_[kernel.segment].kernels.size()));
        if (!kernel.emits || kernel.segment + 1 == segments_.size()) continue;
        for (const std::uint32_t next : segments_[kernel.segment + 1].kernels) {
            if (kernels_[next].kernel().predecessors.empty()) policy.learn(k, next, next - k);
        }
    }
}

void TaskBoard::create_source_frames() {
    FramesInFlight& source = frames_[0];
    while (!source.full() && source.next().frame < source.end()) {
        if (settings_.stop_when && settings_.stop_when()) return source.end_at(source.next().frame);
        source.marks()[source.next().token] = {};
        create_frame(0, source.next().frame);
    }
}

void TaskBoard::create_frame(std::uint32_t segment, std::uint64_t iteration) {
    const std::vector<std::uint32_t>& kernels = segments_[segment].kernels;
    const CarriedFrame carried =
        frames_[segment].create(iteration, static_cast<std::uint32_t>(kernels.size()));
    ++in_flight_;
    for (const std::uint32_t k : kernels) {
        const KernelTasks::Wait wait = kernels_[k].create(carried);
        const TaskSlot slot = kernels_[k].slot_of(carried.token);
        create_task(slot, iteration);
        note_wait(slot, wait);
    }
}

void TaskBoard::create_task(TaskSlot slot, std::uint64_t iteration) {
    predecessors_.clear();
    if (ready_.wants_predecessors()) list_predecessors(slot);
    const std::uint32_t kernel = kernel_of_slot_[slot];
    const policy::KindSet kinds = kernels_[kernel].kernel().kinds;
    ready_.policy().create({slot, kernel, numbers_++, iteration, 0, predecessors_, kinds});
}

void TaskBoard::list_predecessors(TaskSlot slot) {
    const KernelTasks& tasks = kernel_of(slot);
    const FramesInFlight& frames = frames_of(tasks);
    const std::uint32_t token = tasks.token_of(slot);
    for (const std::uint32_t p : tasks.kernel().predecessors)
        predecessors_.push_back(kernels_[p].slot_of(token));
    if (tasks.kernel().sequential && frames.frame_in(token) > frames.oldest().frame)
        predecessors_.push_back(tasks.slot_of(tasks.token_before(token)));
}

void TaskBoard::note_wait(TaskSlot slot, KernelTasks::Wait wait) {
    if (wait == KernelTasks::Wait::nothing) return make_ready(slot);
    const KernelTasks& tasks = kernel_of(slot);
    if (wait == KernelTasks::Wait::only_order && tasks.ready() != policy::kNoTask)
        ready_.add_behind(tasks.ready(), tasks.mean_ticks().value());
}

void TaskBoard::make_ready(TaskSlot slot) {
    const Kernel& kernel = kernel_of(slot).kernel();
    if (kernel.emits && frames_[kernel.segment + 1].full()) {
        segments_[kernel.segment + 1].blocked = slot;
    } else {
        tell_ready(slot);
    }
}

void TaskBoard::tell_ready(TaskSlot slot) {
    KernelTasks& tasks = kernel_of(slot);
    tasks.set_ready(slot);
    ready_.add(slot, tasks.ready_group(),
               tasks.mean_ticks().value_or(settings_.bundle_ticks) + tasks.ticks_behind());
}

void TaskBoard::take(WorkerId worker, std::size_t hungry, std::vector<TaskRun>& runs) {
    ready_.take(worker, hungry, [&](TaskSlot slot, std::uint64_t ticks_left) {
        runs.push_back(issue(slot, ticks_left));
        return expected_ticks(runs.back());
    });
}

TaskRun TaskBoard::issue(TaskSlot slot, std::uint64_t ticks_left) {
    KernelTasks& tasks = kernel_of(slot);
    const std::uint32_t token = tasks.token_of(slot);
    const std::uint32_t segment = tasks.kernel().segment;
    const std::uint32_t kernel = kernel_of_slot_[slot];
    const CarriedFrame first{frames_[segment].frame_in(token), token};
    tasks.set_ready(policy::kNoTask);
    TaskRun run{.kernel = kernel,
                .frames = tasks.run_length(token, longest_run(tasks, first.frame, ticks_left)),
                .first = first,
                .limit = frames_[segment].limit().of(kernel)};
    if (tasks.kernel().emits) {
        run.out = frames_[segment + 1].next();
        run.resumed = tasks.take_resumed();
    }
    if (segment == 0) ends_.note_issued(first.frame + run.frames);
    return run;
}

// From this frame on, in so much time.
std::uint64_t TaskBoard::longest_run(const KernelTasks& tasks, std::uint64_t frame,
                                     std::uint64_t ticks_left) const {
    constexpr std::uint64_t kLongest = 64;
    if (!tasks.mean_ticks().known()) return 1;
    const std::uint64_t frames_end = frames_[tasks.kernel().segment].next().frame;
    return std::min(
        {kLongest, std::max<std::uint64_t>(1, ticks_left / tasks.mean_ticks().value()), frames_end - frame});
}

std::uint64_t TaskBoard::expected_ticks(const TaskRun& run) const {
    const MeanTicks& mean = kernels_[run.kernel].mean_ticks();
    return mean.known() ? mean.value() * run.frames : settings_.bundle_ticks;
}

std::uint64_t TaskBoard::expected_ticks(const std::vector<TaskRun>& runs) const {
    std::uint64_t ticks = 0;
    for (const TaskRun& run : runs) ticks += expected_ticks(run);
    return ticks;
}

void TaskBoard::complete(WorkerId worker, std::vector<TaskRun>& runs, std::uint64_t now) {
    for (const TaskRun& run : runs) complete(worker, run, now);
    runs.clear();
    ready_.policy().tick(static_cast<std::uint64_t>(to_ns(now)));
}

void TaskBoard::complete(WorkerId worker, const TaskRun& run, std::uint64_t now) {
    KernelTasks& tasks = kernels_[run.kernel];
    const std::uint32_t segment = tasks.kernel().segment;
    const std::uint64_t iteration = frames_[segment].iteration_in(run.first.token);
    std::uint32_t token = run.first.token;
    tasks.mean_ticks().note(run.ticks / run.frames);
    if (run.kernel == 0 && !run.again) counts_.note_begun(run, frames_[0].limit().frame);
    for (std::uint32_t i = 0; i < run.frames; ++i, token = tasks.token_after(token)) {
        const TaskSlot slot = tasks.slot_of(token);
        ready_.complete(slot, worker);
        if (run.emitted) {
            create_frame(segment + 1, iteration);
            if (segments_[segment + 1].kernels.empty()) retire(segment + 1, now);
        }
        run.again ? repeat(slot, iteration) : complete_task(slot, i + 1 == run.frames, now);
    }
}

// The task has more to emit; that is the same task anew.
void TaskBoard::repeat(TaskSlot slot, std::uint64_t iteration) {
    kernel_of(slot).note_again();
    create_task(slot, iteration);
    make_ready(slot);
}

void TaskBoard::complete_task(TaskSlot slot, bool last_of_run, std::uint64_t now) {
    KernelTasks& tasks = kernel_of(slot);
    FramesInFlight& frames = frames_of(tasks);
    const std::uint32_t token = tasks.token_of(slot);
    for (const std::uint32_t successor : tasks.kernel().successors) {
        KernelTasks& waiting = kernels_[successor];
        note_wait(waiting.slot_of(token), waiting.release(token));
    }
    const bool next_is_free = tasks.kernel().sequential && tasks.complete_in_order(frames.next().frame);
    if (next_is_free && last_of_run) make_ready(tasks.slot_of(tasks.next().token));
    frames.complete_task(token);
    if (token == frames.oldest().token) retire(tasks.kernel().segment, now);
}

// Frees the tokens of the oldest frames that are done.
void TaskBoard::retire(std::uint32_t segment, std::uint64_t now) {
    FramesInFlight& frames = frames_[segment];
    if (!frames.can_retire()) return;
    while (frames.can_retire()) {
        const CarriedFrame carried = frames.retire();
        --in_flight_;
        if (segment + 1 == segments_.size()) note_left(frames, carried, now);
    }
    if (segment == 0) create_source_frames();
    std::optional<TaskSlot>& blocked = segments_[segment].blocked;
    if (blocked) tell_ready(*std::exchange(blocked, std::nullopt));
}

void TaskBoard::note_left(FramesInFlight& frames, const CarriedFrame& carried, std::uint64_t now) {
    if (carried.frame >= frames.limit().frame) return;
    const FrameMark& mark = frames.marks()[carried.token];
    counts_.note_left(mark);
    if (settings_.latencies) counts_.latencies.add(now - mark.born);
}

std::vector<std::uint64_t> TaskBoard::next_frames() const {
    std::vector<std::uint64_t> numbers;
    for (const FramesInFlight& frames : frames_) numbers.push_back(frames.next().frame);
    numbers[0] = std::min(numbers[0], ends_.issued_end());
    return numbers;
}

}  // namespace tidemill
