#include "tidemill/run/dynamic/task_board.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/late.hpp"

namespace tidemill {

using policy::TaskSlot;
using policy::WorkerId;

TaskBoard::TaskBoard(const std::vector<DynamicUnit>& units, Settings settings)
    : settings_(std::move(settings)),
      placement_(placement_of(units, settings_)),
      ready_(policy::make_policy(settings_.policy, settings_.kinds, settings_.adapting), settings_.kinds,
             settings_.bundle_ticks, placement_.get()),
      times_(1 + std::ranges::max(settings_.kinds)),
      segments_(settings_.tokens.size()),
      ends_(settings_.first_frames.front()) {
    for (std::size_t s = 0; s < segments_.size(); ++s)
        frames_.emplace_back(settings_.tokens[s], settings_.first_frames[s]);
    for (const DynamicUnit& unit : units) add_unit(unit);
    times_.resize(units_.size());
    ready_.resize(unit_of_slot_.size());
    if (settings_.frames != kEndless) frames_[0].end_at(settings_.first_frames[0] + settings_.frames);
    if (!ready_.wants_predecessors()) learn_edges();
    create_source_frames();
}

std::unique_ptr<bridge::Placement> TaskBoard::placement_of(const std::vector<DynamicUnit>& units,
                                                           const Settings& settings) {
    if (!settings.places) return nullptr;
    const bridge::Placement::Settings how{settings.kinds, settings.now, 1e3 / ns_per_tick(), units.size(),
                                          settings.explores};
    auto placement = std::make_unique<bridge::Placement>(how);
    for (std::size_t k = 0; k < units.size(); ++k) {
        const bool known = k < settings.known.size();
        placement->add_type(units[k].kinds, units[k].sequential,
                            known ? settings.known[k] : bridge::KnownTicks{});
    }
    return placement;
}

void TaskBoard::add_unit(const DynamicUnit& unit) {
    const auto index = static_cast<std::uint32_t>(units_.size());
    const auto first_slot = static_cast<TaskSlot>(unit_of_slot_.size());
    const FramesInFlight& frames = frames_[unit.segment];
    units_.emplace_back(unit, first_slot, frames.next(), frames.tokens(), ready_.group_of(unit.kinds));
    segments_[unit.segment].units.push_back(index);
    unit_of_slot_.insert(unit_of_slot_.end(), frames.tokens(), index);
}

void TaskBoard::learn_edges() {
    policy::Policy& policy = ready_.policy();
    for (std::uint32_t k = 0; k < units_.size(); ++k) {
        const DynamicUnit& unit = units_[k].unit();
        for (const std::uint32_t p : unit.predecessors) policy.learn(p, k, k - p);
        if (unit.sequential) policy.learn(k, k, static_cast<double>(segments_[unit.segment].units.size()));
        if (!unit.emits || unit.segment + 1 == segments_.size()) continue;
        for (const std::uint32_t next : segments_[unit.segment + 1].units) {
            if (units_[next].unit().predecessors.empty()) policy.learn(k, next, next - k);
        }
    }
}

void TaskBoard::create_source_frames() {
    FramesInFlight& source = frames_[0];
    while (!source.full() && source.next().frame < source.end()) {
        if (settings_.stop_when && settings_.stop_when()) return source.end_at(source.next().frame);
        source.marks()[source.next().token] = {begun_holes(), 0};
        if (settings_.begin) settings_.begin(source.next(), source.marks()[source.next().token]);
        create_frame(0, source.next().frame);
    }
}

void TaskBoard::create_frame(std::uint32_t segment, std::uint64_t iteration) {
    const std::vector<std::uint32_t>& units = segments_[segment].units;
    const CarriedFrame carried = frames_[segment].create(iteration, static_cast<std::uint32_t>(units.size()));
    ++in_flight_;
    for (const std::uint32_t k : units) {
        const UnitTasks::Wait wait = units_[k].create(carried);
        const TaskSlot slot = units_[k].slot_of(carried.token);
        create_task(slot, iteration);
        note_wait(slot, wait);
    }
}

void TaskBoard::create_task(TaskSlot slot, std::uint64_t iteration) {
    predecessors_.clear();
    if (ready_.wants_predecessors()) list_predecessors(slot);
    const std::uint32_t unit = unit_of_slot_[slot];
    const policy::KindSet kinds = units_[unit].unit().kinds;
    ready_.policy().create({slot, unit, numbers_++, iteration, 0, predecessors_, kinds});
}

void TaskBoard::list_predecessors(TaskSlot slot) {
    const UnitTasks& tasks = unit_of(slot);
    const FramesInFlight& frames = frames_of(tasks);
    const std::uint32_t token = tasks.token_of(slot);
    for (const std::uint32_t p : tasks.unit().predecessors) predecessors_.push_back(units_[p].slot_of(token));
    if (tasks.unit().sequential && frames.frame_in(token) > frames.oldest().frame)
        predecessors_.push_back(tasks.slot_of(tasks.token_before(token)));
}

void TaskBoard::note_wait(TaskSlot slot, UnitTasks::Wait wait) {
    if (wait == UnitTasks::Wait::nothing) return make_ready(slot);
    const UnitTasks& tasks = unit_of(slot);
    if (wait == UnitTasks::Wait::only_order && tasks.ready() != policy::kNoTask && !tasks.unit().may_wait)
        ready_.add_behind(tasks.ready(), times_.least(unit_of_slot_[slot]));
}

void TaskBoard::make_ready(TaskSlot slot) {
    const DynamicUnit& unit = unit_of(slot).unit();
    if (unit.emits && frames_[unit.segment + 1].full()) {
        segments_[unit.segment + 1].blocked = slot;
    } else {
        tell_ready(slot);
    }
}

void TaskBoard::tell_ready(TaskSlot slot) {
    UnitTasks& tasks = unit_of(slot);
    tasks.set_ready(slot);
    if (tasks.unit().may_wait)
        return ready_.add_waiting(slot, tasks.unit().kinds, tasks.ready_group(),
                                  frames_of(tasks).iteration_in(tasks.token_of(slot)));
    const std::uint64_t least = times_.least(unit_of_slot_[slot]);
    ready_.add(slot, unit_of_slot_[slot], tasks.ready_group(),
               (least != 0 ? least : settings_.bundle_ticks) + tasks.lined_up() * least);
}

std::uint64_t TaskBoard::take(WorkerId worker, std::size_t hungry, std::vector<TaskRun>& runs) {
    const policy::KindId kind = settings_.kinds[worker];
    std::uint64_t expected = 0;
    ready_.take(worker, hungry, [&](TaskSlot slot, std::uint64_t ticks_left) {
        runs.push_back(issue(slot, kind, ticks_left));
        const std::uint64_t more = expected_ticks(runs.back(), kind);
        expected += more;
        return more;
    });
    return expected;
}

TaskRun TaskBoard::issue(TaskSlot slot, policy::KindId kind, std::uint64_t ticks_left) {
    UnitTasks& tasks = unit_of(slot);
    const std::uint32_t token = tasks.token_of(slot);
    const std::uint32_t segment = tasks.unit().segment;
    const std::uint32_t unit = unit_of_slot_[slot];
    const CarriedFrame first{frames_[segment].frame_in(token), token};
    tasks.set_ready(policy::kNoTask);
    TaskRun run{.unit = unit, .frames = 1, .first = first, .limit = frames_[segment].limit().of(unit)};
    run.frames = tasks.run_length(token, longest_run(run, kind, ticks_left));
    if (tasks.unit().emits) {
        run.out = frames_[segment + 1].next();
        run.resumed = tasks.take_resumed();
    }
    // Frames behind the limit pass by; the source is not asked for them.
    if (segment == 0) ends_.note_issued(std::min(first.frame + run.frames, frames_[0].limit().frame));
    return run;
}

// From its first frame on, in so much time. What is not known of this kind may be anything.
std::uint64_t TaskBoard::longest_run(const TaskRun& run, policy::KindId kind,
                                     std::uint64_t ticks_left) const {
    constexpr std::uint64_t kLongest = 64;
    const bridge::MeanTicks& mean = times_.on(kind, run.unit);
    if (!mean.known()) return 1;
    const std::uint64_t frames_end = frames_[units_[run.unit].unit().segment].next().frame;
    return std::min(
        {kLongest, std::max<std::uint64_t>(1, ticks_left / mean.value()), frames_end - run.first.frame});
}

std::uint64_t TaskBoard::expected_ticks(const TaskRun& run, policy::KindId kind) const {
    const bridge::MeanTicks& mean = times_.on(kind, run.unit);
    return mean.known() ? mean.value() * run.frames : settings_.bundle_ticks;
}

void TaskBoard::complete(WorkerId worker, std::vector<TaskRun>& runs, std::uint64_t now) {
    for (const TaskRun& run : runs) complete(worker, run, now);
    runs.clear();
    ready_.policy().tick(static_cast<std::uint64_t>(to_ns(now)));
}

void TaskBoard::complete(WorkerId worker, const TaskRun& run, std::uint64_t now) {
    UnitTasks& tasks = units_[run.unit];
    const std::uint32_t segment = tasks.unit().segment;
    const std::uint64_t iteration = frames_[segment].iteration_in(run.first.token);
    std::uint32_t token = run.first.token;
    times_.on(settings_.kinds[worker], run.unit).note(run.ticks / run.frames);
    if (placement_ && !tasks.unit().may_wait)
        placement_->completed(worker, run.unit, run.frames, run.ticks / run.frames);
    if (run.unit == 0 && !run.again) counts_.note_begun(run, frames_[0].limit().frame);
    for (std::uint32_t i = 0; i < run.frames; ++i, token = tasks.token_after(token)) {
        const TaskSlot slot = tasks.slot_of(token);
        ready_.complete(slot, worker);
        if (run.emitted) {
            create_frame(segment + 1, iteration);
            if (segments_[segment + 1].units.empty()) retire(segment + 1, now);
        }
        run.again ? repeat(slot, iteration) : complete_task(slot, i + 1 == run.frames, now);
    }
}

// The task has more to emit; that is the same task anew.
void TaskBoard::repeat(TaskSlot slot, std::uint64_t iteration) {
    unit_of(slot).note_again();
    create_task(slot, iteration);
    make_ready(slot);
}

void TaskBoard::complete_task(TaskSlot slot, bool last_of_run, std::uint64_t now) {
    UnitTasks& tasks = unit_of(slot);
    FramesInFlight& frames = frames_of(tasks);
    const std::uint32_t token = tasks.token_of(slot);
    for (const std::uint32_t successor : tasks.unit().successors) {
        UnitTasks& waiting = units_[successor];
        note_wait(waiting.slot_of(token), waiting.release(token));
    }
    const bool next_is_free = tasks.unit().sequential && tasks.complete_in_order(frames.next().frame);
    if (next_is_free && last_of_run) make_ready(tasks.slot_of(tasks.next().token));
    frames.complete_task(token);
    if (token == frames.oldest().token) retire(tasks.unit().segment, now);
}

// Frees the tokens of the oldest frames that are done.
void TaskBoard::retire(std::uint32_t segment, std::uint64_t now) {
    FramesInFlight& frames = frames_[segment];
    if (!frames.can_retire()) return;
    while (frames.can_retire()) {
        const CarriedFrame carried = frames.retire();
        --in_flight_;
        if (segment == 0 && carried.frame < frames.limit().frame)
            counts_.note_through_source(frames.marks()[carried.token]);
        if (segment + 1 == segments_.size()) note_left(frames, carried, now);
    }
    if (segment == 0) create_source_frames();
    std::optional<TaskSlot>& blocked = segments_[segment].blocked;
    if (blocked) tell_ready(*std::exchange(blocked, std::nullopt));
}

void TaskBoard::note_left(FramesInFlight& frames, const CarriedFrame& carried, std::uint64_t now) {
    if (carried.frame >= frames.limit().frame) return;
    const FrameMark& mark = frames.marks()[carried.token];
    const Branches& branches = settings_.branches;
    if (!branches.empty() && (mark.holes & branches.last) == 0) return;
    counts_.note_left(mark.holes & ~branches.all);
    if (settings_.latencies) counts_.latencies.add(now - (mark.born & ~kToldLate));
}

std::vector<std::uint64_t> TaskBoard::next_frames() const {
    std::vector<std::uint64_t> numbers;
    for (const FramesInFlight& frames : frames_) numbers.push_back(frames.next().frame);
    numbers[0] = std::min(numbers[0], ends_.issued_end());
    if (const StreamEnd* stopped = ends_.stopped()) numbers[stopped->segment] = stopped->limit.frame;
    return numbers;
}

}  // namespace tidemill
