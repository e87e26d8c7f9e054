#include "tidemill/runtime/dynamic/task_board.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill {

using policy::TaskSlot;
using policy::WorkerId;

TaskBoard::TaskBoard(const std::vector<DynamicUnit>& units, Settings settings)
    : settings_(std::move(settings)),
      placement_(placement_of(units, settings_)),
      ready_(policy_of(settings_), settings_.kinds, settings_.bundle_ticks, placement_.get()),
      times_(1 + std::ranges::max(settings_.kinds)),
      segments_(settings_.tokens.size()),
      batch_size_(batch_size_of(units, settings_)),
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

std::unique_ptr<policy::Policy> TaskBoard::policy_of(const Settings& settings) {
    if (!settings.make_policy) return policy::make_policy(settings.policy, settings.kinds, settings.adapting);
    std::unique_ptr<policy::Policy> made = settings.make_policy(settings.kinds);
    if (!made) throw policy::PolicyError("DynamicOptions::make_policy made none: let it return a policy");
    return made;
}

// Single frames where a segment ends, whose frames may become any number of others; where a task may wait,
// since frames would wait for those behind them; and where each task has its place.
BatchSize TaskBoard::batch_size_of(const std::vector<DynamicUnit>& units, const Settings& settings) {
    const bool single =
        settings.tokens.size() > 1 || settings.places || std::ranges::any_of(units, &DynamicUnit::may_wait);
    return {single ? 0 : settings.tokens.front(), settings.kinds.size(), settings.bundle_ticks};
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
    while (source.next().frame < source.end()) {
        const auto wanted = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(batch_size_.next(times_), source.end() - source.next().frame));
        if (!source.has_room(wanted)) return;
        if (const std::uint32_t frames = begin_frames(wanted); frames > 0)
            create_batch(0, source.next().frame, frames);
    }
}

// How many of so many frames from the source's next one on are to be: fewer when the stream is to end.
std::uint32_t TaskBoard::begin_frames(std::uint32_t wanted) {
    FramesInFlight& source = frames_[0];
    CarriedFrame frame = source.next();
    for (std::uint32_t i = 0; i < wanted; ++i, frame = frame.next(source.tokens())) {
        if (settings_.stop_when && settings_.stop_when()) {
            source.end_at(frame.frame);
            return i;
        }
        source.marks()[frame.token] = {begun_holes(), 0};
        if (settings_.begin) settings_.begin(frame, source.marks()[frame.token]);
    }
    return wanted;
}

void TaskBoard::create_batch(std::uint32_t segment, std::uint64_t iteration, std::uint32_t frames) {
    const std::vector<std::uint32_t>& units = segments_[segment].units;
    const CarriedFrame carried =
        frames_[segment].create(iteration, static_cast<std::uint32_t>(units.size()), frames);
    ++in_flight_;
    for (const std::uint32_t k : units) {
        const UnitTasks::Wait wait = units_[k].create(carried, frames);
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
        predecessors_.push_back(tasks.slot_of(frames.token_before(token)));
}

void TaskBoard::note_wait(TaskSlot slot, UnitTasks::Wait wait) {
    if (wait == UnitTasks::Wait::nothing) return make_ready(slot);
    const UnitTasks& tasks = unit_of(slot);
    if (wait == UnitTasks::Wait::only_order && tasks.ready() != policy::kNoTask && !tasks.unit().may_wait)
        ready_.add_behind(tasks.ready(),
                          tasks.batch_in(tasks.token_of(slot)) * times_.least(unit_of_slot_[slot]));
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
    const std::uint32_t frames = tasks.batch_in(tasks.token_of(slot));
    ready_.add(slot, unit_of_slot_[slot], tasks.ready_group(),
               (least != 0 ? batch_size_.ready_ticks(frames, least) : settings_.bundle_ticks) +
                   tasks.lined_up() * least);
}

std::uint64_t TaskBoard::take(WorkerId worker, std::size_t idle_peers, std::vector<TaskRun>& runs) {
    const policy::KindId kind = settings_.kinds[worker];
    std::uint64_t expected = 0;
    ready_.take(worker, idle_peers, [&](TaskSlot slot, std::uint64_t ticks_left) {
        runs.push_back(issue(slot, kind, ticks_left));
        std::uint64_t more = expected_ticks(runs.back(), kind);
        if (batch_size_.may_batch()) more = follow(kind, more, ticks_left, runs);
        expected += more;
        return more;
    });
    return expected;
}

// The worker goes on with the same frames, unit after unit, as long as nobody else has to do anything first:
// so they stay in its cache, and it need not ask. That may take twice what is handed out at once, as it takes
// nothing from others that they could do now. Returns what it all may take.
std::uint64_t TaskBoard::follow(policy::KindId kind, std::uint64_t expected, std::uint64_t most_ticks,
                                std::vector<TaskRun>& runs) {
    const std::uint64_t share = batch_size_.share_ticks(runs.back().frames);
    while (true) {
        TaskRun run = runs.back();
        const std::vector<std::uint32_t>& successors = units_[run.unit].unit().successors;
        const auto next =
            std::ranges::find_if(successors, [&](std::uint32_t unit) { return may_follow(unit, run, kind); });
        if (next == successors.end()) return expected;
        const std::uint64_t more = times_.on(kind, *next).value() * run.frames;
        if (expected + more / 2 > share || expected + more > 2 * most_ticks) return expected;
        units_[*next].hand_out_behind(run.first.token, run.frames);
        run.unit = *next;
        run.limit = frames_[0].limit().of(*next);
        runs.push_back(run);
        expected += more;
    }
}

bool TaskBoard::may_follow(std::uint32_t unit, const TaskRun& run, policy::KindId kind) const {
    return times_.on(kind, unit).known() && (units_[unit].unit().kinds >> kind & 1) != 0 &&
           units_[unit].waits_for_one(run.first.token, run.frames);
}

TaskRun TaskBoard::issue(TaskSlot slot, policy::KindId kind, std::uint64_t ticks_left) {
    UnitTasks& tasks = unit_of(slot);
    const std::uint32_t token = tasks.token_of(slot);
    const std::uint32_t segment = tasks.unit().segment;
    const std::uint32_t unit = unit_of_slot_[slot];
    const CarriedFrame first{frames_[segment].frame_in(token), token};
    tasks.set_ready(policy::kNoTask);
    TaskRun run{.unit = unit, .frames = 1, .first = first, .limit = frames_[segment].limit().of(unit)};
    run.frames = tasks.hand_out(token, longest_run(run, kind, ticks_left));
    if (tasks.unit().emits) {
        run.out = frames_[segment + 1].next();
        run.resumed = tasks.take_resumed();
    }
    // Frames behind the limit pass by; the source is not asked for them.
    if (segment == 0) ends_.note_issued(std::min(first.frame + run.frames, frames_[0].limit().frame));
    return run;
}

// From its first frame on, in so much time. What is not known of this kind may be anything. Of a batch of
// several frames other units come first. What takes several at once gets as many as are there.
std::uint64_t TaskBoard::longest_run(const TaskRun& run, policy::KindId kind,
                                     std::uint64_t ticks_left) const {
    constexpr std::uint64_t kLongest = 64;
    const bridge::MeanTicks& mean = times_.on(kind, run.unit);
    if (units_[run.unit].unit().batch > 1) return units_[run.unit].unit().batch;
    if (!mean.known() || units_[run.unit].batch_in(run.first.token) > 1) return 1;
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
    for (std::uint32_t done = 0; done < run.frames;) {
        const TaskSlot slot = tasks.slot_of(token);
        done += tasks.batch_in(token);
        token = tasks.token_after(token);  // before its own is another batch's
        ready_.complete(slot, worker);
        if (run.emitted) {
            create_batch(segment + 1, iteration, 1);
            if (segments_[segment + 1].units.empty()) retire(segment + 1, now);
        }
        run.again ? repeat(slot, iteration) : complete_task(slot, now);
    }
}

// The task has more to emit; that is the same task anew.
void TaskBoard::repeat(TaskSlot slot, std::uint64_t iteration) {
    unit_of(slot).note_again();
    create_task(slot, iteration);
    make_ready(slot);
}

void TaskBoard::complete_task(TaskSlot slot, std::uint64_t now) {
    UnitTasks& tasks = unit_of(slot);
    FramesInFlight& frames = frames_of(tasks);
    const std::uint32_t token = tasks.token_of(slot);
    for (const std::uint32_t successor : tasks.unit().successors) {
        UnitTasks& waiting = units_[successor];
        note_wait(waiting.slot_of(token), waiting.release(token));
    }
    if (tasks.unit().sequential && tasks.complete_in_order(frames.next().frame))
        make_ready(tasks.slot_of(tasks.next().token));
    frames.complete_task(token);
    if (token == frames.oldest().token) retire(tasks.unit().segment, now);
}

// Frees the tokens of the oldest batches that are done.
void TaskBoard::retire(std::uint32_t segment, std::uint64_t now) {
    FramesInFlight& frames = frames_[segment];
    if (!frames.can_retire()) return;
    while (frames.can_retire()) {
        CarriedFrame carried = frames.retire();
        --in_flight_;
        for (; carried.frame < frames.oldest().frame; carried = carried.next(frames.tokens())) {
            if (segment == 0 && carried.frame < frames.limit().frame)
                counts_.note_through_source(frames.marks()[carried.token]);
            if (segment + 1 == segments_.size()) note_left(frames, carried, now);
        }
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
