#include "tidemill/runtime/execute/crew.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include <cxxabi.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/execute/stage_choice.hpp"
#include "tidemill/runtime/graph/stream_end.hpp"
#include "tidemill/runtime/threads/run_gate.hpp"

namespace tidemill {

namespace {

Plan compiled(const Graph& graph, const Structure& structure, const EngineCut& cut, const EndOfStream* end) {
    std::vector<StageCut> cuts;
    for (const EngineStage& stage : cut.stages) cuts.push_back(stage.cut);
    Plan plan = compile(graph, structure, cuts);
    if (end) make_end_plan(*end, plan);
    return plan;
}

// So many tokens of all segments, but one of each: they are taken from where there are most.
void limit(std::vector<std::size_t>& sizes, std::uint64_t tokens) {
    auto all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    for (; all > tokens; --all) {
        const auto most = std::ranges::max_element(sizes);
        if (*most == 1) return;
        --*most;
    }
}

std::uint64_t ticks_of(std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) / ns_per_tick());
}

}  // namespace

Crew::Crew(Graph& graph, const Structure& structure, const EngineCut& cut, const RunOptions& options,
           const std::vector<std::uint64_t>& first_frames, std::uint64_t frames, KnobBook& knobs,
           const EndOfStream* end, KnobTable* end_knobs)
    : graph_(graph),
      knobs_(knobs),
      cut_(cut),
      structure_(structure),
      end_(end),
      end_knobs_(end_knobs),
      first_segment_(end ? structure.order[end->step].segment : 0),
      first_branch_(end ? structure.order[end->step].branch : 0),
      first_frames_(first_frames),
      frames_(frames),
      plan_(compiled(graph, structure, cut, end)),
      state_(ring_shapes(drops_late(options)), any_sleeper()) {
    if (frames_ != kEndless) state_.ring(0).close((frames_ + cut_.batch - 1) / cut_.batch);
    if (options.replay && !end_) check_may_drop(plan_);
    if (drops_late(options)) check_may_drop_late(graph, plan_, options.late, cut_);
    if (plan_.has_knobs && !end_) knobs_.start(first_frames.front(), cut_.stages.front().cut.threads);
    if (plan_.has_knobs && !end_ && !drops_late(options))
        teller_.emplace(knobs_, frames_in_flight(), options.numbers);
    for (std::size_t s = 0; s < cut_.stages.size(); ++s) {
        if (!works(plan_.stages[s])) continue;
        for (std::size_t r = 0; r < cut_.stages[s].cut.threads; ++r) {
            seats_.emplace_back(s, r, cut_.stages[s].cores, options_for(s, r, options));
        }
    }
    seat_threads();
}

// Those with several seats have the rings of all of them wake them.
void Crew::seat_threads() {
    std::map<std::size_t, std::size_t> owners;  // in threads_
    for (Seat& seat : seats_) {
        const std::vector<std::size_t>& named = cut_.stages[seat.stage].owners;
        std::size_t thread = threads_.size();
        if (!named.empty()) thread = owners.emplace(named[seat.replica], thread).first->second;
        if (thread == threads_.size()) threads_.emplace_back();
        seat.thread = thread;
        threads_[thread].seats.push_back(&seat);
    }
    for (Thread& thread : threads_) {
        if (thread.seats.size() < 2) continue;
        thread.bell = &bells_.emplace_back();
        thread.waiting = any_sleeper() ? WaitMode::passive : WaitMode::active;
        for (const Seat* seat : thread.seats)
            for (const Part& part : plan_.stages[seat->stage].parts)
                if (part.segment >= first_segment_)
                    state_.ring(part.segment)
                        .ring_for(part.stage_index, seat->options.turns, seat->replica, *thread.bell);
    }
}

// Frames held by a stage keep all of its threads busy; the rings' depths may wait in between.
std::vector<std::size_t> Crew::ring_sizes() const {
    std::vector<std::size_t> sizes(plan_.segments.size(), 0);
    for (std::size_t s = 0; s < cut_.stages.size(); ++s) {
        for (const Part& part : plan_.stages[s].parts) {
            const bool last = part.stage_index + 1 == plan_.segments[part.segment].stages;
            sizes[part.segment] +=
                cut_.stages[s].frames_held() + (last || end_ ? 0 : cut_.stages[s].ring_depth);
            sizes[part.segment] += cut_.stages[s].cut.threads * gathered(s);
        }
    }
    // A crew at the stream's end has few frames behind the last one, and none before the first task that runs
    // at the end.
    std::fill_n(sizes.begin(), first_segment_, 1);
    sizes.front() = std::min(sizes.front(), structure_.flight.frames / cut_.batch);
    limit(sizes, cut_.frames_in_flight / cut_.batch);
    return sizes;
}

// One thread begins no frame for which there is no token. Several get at most once around the ring behind
// the one that waits, where any one thread sees all frames in order; else nothing bounds how far they drift.
std::uint64_t Crew::frames_in_flight() const {
    const auto is_in_front = [&](const PlannedStage& stage) { return stage.parts.front().segment == 0; };
    const std::uint64_t tokens = ring_sizes().front() * cut_.batch;
    if (plan_.stages.front().threads == 1) return tokens;
    const bool any_in_order = std::ranges::any_of(
        plan_.stages, [&](const PlannedStage& stage) { return is_in_front(stage) && stage.threads == 1; });
    return any_in_order ? 2 * tokens : kEndless;
}

// While some lots of tokens are under way, the next one comes together.
std::size_t Crew::gathered(std::size_t stage) const {
    const std::uint32_t lots = 1 + under_way(stage);
    const std::uint32_t frames = gathers(stage);
    return frames > 1 || lots > 2 ? lots * ((frames + cut_.batch - 1) / cut_.batch) : 0;
}

// Options of the task that has the stage to itself; those of no task where it has not.
TaskOptions Crew::options_alone(std::size_t stage) const {
    const std::vector<Part>& parts = plan_.stages[stage].parts;
    if (parts.size() > 1 || parts.front().last_step - parts.front().first_step != 1) return {};
    const TaskId task = plan_.steps[parts.front().first_step].task.id;
    return modules_of(graph_)[task.module]->tasks()[task.task].options;
}

// Calls of its task.
std::uint32_t Crew::under_way(std::size_t stage) const {
    return std::max(1u, options_alone(stage).in_flight);
}

// As many frames as a schedule wants, of those that its task takes.
std::uint32_t Crew::gathers(std::size_t stage) const {
    return std::min(cut_.stages[stage].gather, std::max(1u, options_alone(stage).batch));
}

// By a stage with batches of its own.
bool Crew::are_gathered(std::size_t segment) const {
    for (std::size_t s = 0; s < cut_.stages.size(); ++s)
        for (const Part& part : plan_.stages[s].parts)
            if (part.segment == segment && cut_.stages[s].gather > 1) return true;
    return false;
}

std::vector<RingShape> Crew::ring_shapes(bool drops) const {
    std::vector<RingShape> shapes;
    const std::vector<std::size_t> tokens = ring_sizes();
    for (std::size_t s = 0; s < plan_.segments.size(); ++s) {
        const bool has_spare = s == 0 && drops;
        shapes.push_back({{tokens[s], cut_.batch, plan_.segments[s].token_bytes, has_spare,
                           are_gathered(s) ? cut_.memory : nullptr},
                          plan_.segments[s].stages});
    }
    return shapes;
}

bool Crew::any_sleeper() const {
    for (std::size_t s = 0; s + 1 < cut_.stages.size(); ++s) {
        if (cut_.stages[s].waiting != WaitMode::active) return true;
    }
    return false;
}

// At the stream's end nothing comes by the clock, and a replay drops what was dropped.
bool Crew::drops_late(const RunOptions& options) const {
    return options.late != Late::wait && !options.replay && !end_;
}

Worker::Options Crew::options_for(std::size_t stage, std::size_t replica, const RunOptions& options) {
    Worker::Options chosen;
    chosen.pull = cut_.stages[stage == 0 ? 0 : stage - 1].waiting;
    chosen.push = cut_.stages[stage].waiting;
    chosen.turns = cut_.stages[stage].turns();
    chosen.notes.statistics = options.statistics || options.deadline.count() > 0;
    if (stage == 0 && replica == 0 && !end_) chosen.stop_when = options.stop_when;
    for (Observer* observer : options.observers) {
        chosen.notes.observers.push_back(&observer->watch({plan_, stage, replica}));
    }
    chosen.notes.numbers = options.numbers;
    if (plan_.has_knobs && !end_) chosen.knobs = &knobs_;
    chosen.end_knobs = end_knobs_;
    if (teller_) chosen.teller = &*teller_;
    if (!end_) chosen.replay = options.replay;
    if (drops_late(options)) chosen.late = options.late;
    chosen.journal = options.journal;
    chosen.stop = options.stop;
    chosen.notes.deadline_ticks = ticks_of(options.deadline);
    if (!end_) chosen.notes.when_late = options.when_late;
    chosen.batch = cut_.batch;
    chosen.gather = gathers(stage);
    chosen.gather_wait_us = cut_.stages[stage].gather_wait_us;
    chosen.first_frames = first_frames_;
    if (frames_ != kEndless) chosen.source_end = first_frames_.front() + frames_;
    chosen.first_segment = first_segment_;
    chosen.first_branch = first_branch_;
    chosen.tells_end = end_ != nullptr;
    if (end_) chosen.begun_holes = kEndHole;
    if (!plan_.branches.empty()) chosen.begun_holes |= plan_.branches.bits[first_branch_];
    chosen.delivers = !end_ || std::ranges::count(end_->runs, true) > 1;
    return chosen;
}

// The first replica works on the graph's own modules.
std::vector<Module*> Crew::modules_for(Seat& seat) {
    std::vector<Module*> modules = modules_of(graph_);
    if (seat.replica == 0) return modules;
    const std::span<const Step> steps = plan_.steps;
    for (const Part& part : plan_.stages[seat.stage].parts) {
        seat.setup.clone_for(steps.subspan(part.first_step, part.last_step - part.first_step), graph_,
                             modules);
    }
    return modules;
}

void Crew::settle(Seat& seat) {
    seat.worker.emplace(plan_, seat.stage, seat.replica, modules_for(seat), state_, seat.options);
}

// A thread that a forced unwind ends hands its tokens on before it goes; so does one that fails between two
// tasks, for want of memory, say.
void Crew::work(const Thread& thread) {
    const RunGate::Part held([&] { hand_all_on(thread, nullptr); });
    try {
        walk(thread);
    } catch (const abi::__forced_unwind&) {
        hand_all_on(thread, nullptr);
        throw;
    } catch (...) {
        hand_all_on(thread, std::current_exception());
    }
}

void Crew::hand_all_on(const Thread& thread, const std::exception_ptr& why) {
    const auto in_task = [](const Seat* seat) { return seat->worker->has_lost_thread(); };
    const bool is_noted = std::ranges::any_of(thread.seats, in_task);
    for (Seat* seat : thread.seats) seat->worker->lose_thread(is_noted, why);
    walk(thread);
}

void Crew::walk(const Thread& thread) {
    if (thread.seats.size() == 1) return thread.seats.front()->worker->run();
    StageChoice::Steps stages;
    for (Seat* seat : thread.seats) stages.push_back(seat->worker->steps());
    StageChoice(std::move(stages)).run(*thread.bell, thread.waiting, [&](auto wait) {
        const std::uint64_t start = ticks();
        wait();
        const std::uint64_t waited = ticks() - start;
        for (Seat* seat : thread.seats) seat->worker->note_wait(waited);
    });
}

void Crew::run(ThreadPool& pool) {
    std::vector<ThreadSetup*> setups;
    for (const Thread& thread : threads_) setups.push_back(&thread.seats.front()->setup);
    run_set_up(
        pool, setups,
        [this](std::size_t thread) {
            for (Seat* seat : threads_[thread].seats) settle(*seat);
        },
        [this](std::size_t thread) { work(threads_[thread]); }, [this] { state_.end(); });
}

void Crew::merge_clones() {
    internal::FirstFailure first;
    for (Seat& seat : seats_) first.note(internal::thrown_by([&] { seat.setup.merge_clones(); }));
    first.rethrow();
}

std::vector<std::uint64_t> Crew::next_frames() const {
    std::vector<std::uint64_t> numbers = first_frames_;
    for (const Seat& seat : seats_) {
        for (std::uint32_t s = 0; s < numbers.size(); ++s) {
            numbers[s] = std::max(numbers[s], seat.worker->next_frame(s));
        }
    }
    if (const std::optional<StreamStop> stop = stopped_by())
        numbers[structure_.order[stop->step].branch] = stop->number;
    return numbers;
}

std::optional<StreamStop> Crew::stopped_by() const {
    const auto outcome = state_.outcome();
    if (!outcome || outcome->error) return {};
    for (const Seat& seat : seats_) {
        for (const StreamStop& stop : seat.worker->stops()) {
            const bool there = structure_.order[stop.step].segment == outcome->segment;
            if (there && stop.frame == outcome->frame) return stop;
        }
    }
    return {};
}

void Crew::add_to(RunTotals& totals) const {
    totals.resize(plan_.steps.size());
    for (const Seat& seat : seats_) {
        const Worker& worker = *seat.worker;
        for (const WorkerNotes::StepTimes& step : worker.notes().steps())
            totals.add(step.step, step.times, step.late);
        totals.latencies.add(worker.notes().latencies());
        totals.frames += worker.frames_begun();
        totals.dropped += worker.frames_dropped();
        totals.delivered += worker.frames_delivered();
        totals.skipped += worker.frames_skipped();
    }
}

std::vector<StageReport> Crew::stage_reports() const {
    std::vector<StageReport> reports;
    std::size_t unit = 0;
    for (const EngineStage& stage : cut_.stages) {
        reports.push_back({unit, stage.cut.units, {}});
        unit += stage.cut.units;
    }
    const auto work_of = [](const Seat& seat) {
        std::uint64_t work = 0;
        for (const WorkerNotes::StepTimes& step : seat.worker->notes().steps()) work += step.times.sum();
        return work;
    };
    for (const Seat& seat : seats_) {
        const WorkerNotes& notes = seat.worker->notes();
        ThreadReport& thread = reports[seat.stage].threads.emplace_back(
            seat.setup.report(work_of(seat), notes.pull_waits(), notes.push_waits()));
        for (const Seat* other : threads_[seat.thread].seats)
            if (other != &seat) thread.elsewhere_us += to_ns(work_of(*other)) / 1000;
    }
    return reports;
}

std::vector<SegmentReport> Crew::segment_reports(const RunTotals& totals) const {
    const std::vector<std::size_t> tokens = ring_sizes();
    std::vector<SegmentReport> segments;
    for (std::size_t s = 0; s < tokens.size(); ++s) {
        segments.push_back({tokens[s], tokens[s] * cut_.batch * aligned(plan_.segments[s].token_bytes), 0,
                            plan_.segments[s].stages - 1});
    }
    for (std::size_t s = 0; s < cut_.stages.size(); ++s) {
        for (const Part& part : plan_.stages[s].parts)
            segments[part.segment].held += cut_.stages[s].frames_held();
    }
    for (std::size_t step = 0; step < totals.step_times.size(); ++step) {
        std::uint64_t& frames = segments[structure_.order[step].segment].frames;
        frames = std::max(frames, totals.step_times[step].count());
    }
    return segments;
}

}  // namespace tidemill
