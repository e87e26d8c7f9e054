#include "tidemill/runtime/dynamic/task_crew.hpp"

#include <utility>

#include <cxxabi.h>

#include "tidemill/machine/side_by_side.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/threads/run_gate.hpp"

namespace tidemill {

TaskCrew::TaskCrew(Graph& graph, const Plan& plan, const std::vector<DynamicUnit>& units,
                   const Settings& settings, const RunOptions& options, KnobBook& knobs)
    : settings_(settings),
      graph_(graph),
      plan_(plan),
      units_(units),
      memory_(plan, units, settings.board.tokens),
      board_(units, board_settings(knobs, options)),
      workers_(turns_, {settings.board.kinds, settings.board.bundle_ticks, settings.waiting}) {
    for (std::size_t k = 0; k < units.size(); ++k) {
        if (units[k].emits)
            memory_.emissions[k].next_number = settings.board.first_frames[units[k].segment + 1];
    }
    for (std::size_t w = 0; w < settings_.board.kinds.size(); ++w) {
        TaskWorker::Options chosen;
        chosen.index = w;
        chosen.stretch = stretch_of(settings_.board.kinds[w]);
        WorkerNotes::Options& notes = chosen.notes;
        notes.statistics = options.statistics || options.deadline.count() > 0 || chosen.stretch;
        for (Observer* observer : options.observers) {
            notes.observers.push_back(&observer->watch({plan, 0, w}));
        }
        notes.numbers = options.numbers;
        notes.deadline_ticks =
            static_cast<std::uint64_t>(static_cast<double>(options.deadline.count()) / ns_per_tick());
        notes.when_late = options.when_late;
        chosen.drops = options.replay != nullptr;
        chosen.stopping = &turns_.halting();
        chosen.stop = options.stop;
        chosen.ends = &turns_.ends();
        if (teller_) chosen.teller = &*teller_;
        seats_.emplace_back(settings_.cores, std::move(chosen));
    }
}

std::optional<bridge::Stretch> TaskCrew::stretch_of(policy::KindId kind) const {
    if (!settings_.emulation || kind >= settings_.kind_names.size()) return std::nullopt;
    const auto emulated = settings_.emulation->kinds.find(settings_.kind_names[kind]);
    if (emulated == settings_.emulation->kinds.end()) return std::nullopt;
    std::vector<double> ratios;
    for (const Step& step : plan_.steps) ratios.push_back(emulated->second.ratio_of(step.task.name));
    using By = bridge::Stretch::By;
    const bool crowded = settings_.board.kinds.size() > cores_to_use();
    return bridge::Stretch(ratios, crowded ? By::sleeping : By::spinning);
}

// The board creates a source frame when there is room for it; that is when it begins.
TaskBoard::Settings TaskCrew::board_settings(KnobBook& knobs, const RunOptions& options) {
    TaskBoard::Settings settings = settings_.board;
    if (plan_.has_knobs) {
        knobs.start(settings.first_frames.front(), 1);
        beginner_.emplace(knobs, 0, settings.tokens.front());
        teller_.emplace(knobs, settings.tokens.front(), options.numbers);
    }
    if (plan_.has_knobs || options.replay) {
        settings.begin = [this, replay = options.replay, drop = std::size_t{0}](const CarriedFrame& frame,
                                                                                FrameMark& mark) mutable {
            if (beginner_) name_knobs(frame);
            if (replay && replay->is_dropped(frame.frame, drop)) mark.holes |= kDroppedFrame;
        };
    }
    return settings;
}

void TaskCrew::name_knobs(const CarriedFrame& frame) {
    std::byte* data = memory_.tokens.front().data() + frame.token * memory_.strides.front();
    internal::name_knobs(data + plan_.segments.front().knobs_at, beginner_->begin(frame.frame));
}

// The first worker works on the graph's own modules, and so does everyone where a module is not cloned.
void TaskCrew::settle(std::size_t index) {
    Seat& seat = seats_[index];
    std::vector<Module*> modules = modules_of(graph_);
    if (index > 0) seat.setup.clone_for(plan_.steps, graph_, modules);
    seat.worker.emplace(plan_, units_, modules, memory_, board_, seat.options);
}

void TaskCrew::run(ThreadPool& pool) {
    std::vector<ThreadSetup*> setups;
    for (Seat& seat : seats_) setups.push_back(&seat.setup);
    run_set_up(
        pool, setups, [this](std::size_t seat) { settle(seat); }, [this](std::size_t seat) { serve(seat); },
        [this] { halt(); });
}

void TaskCrew::merge_clones() {
    internal::FirstFailure first;
    for (Seat& seat : seats_) first.note(internal::thrown_by([&] { seat.setup.merge_clones(); }));
    first.rethrow();
}

void TaskCrew::serve(std::size_t index) {
    const auto worker = static_cast<policy::WorkerId>(index);
    const auto serve = [&] {
        workers_.serve(worker, *seats_[index].worker,
                       [this] { return turns_.failed() || board_.finished(); });
    };
    const RunGate::Part held([&] {
        if (turns_.is_stuck()) return;  // nobody else gets one any more
        seats_[index].worker->give_up();
        workers_.serve(worker, *seats_[index].worker, [] { return true; });
    });
    std::exception_ptr failure;
    try {
        failure = internal::thrown_by(serve);
    } catch (const abi::__forced_unwind&) {  // what it holds is waited for
        seats_[index].worker->lose_thread();
        turns_.lose_thread();
        serve();
        workers_.ring_all();
        throw;
    }
    if (failure) workers_.look([&] { turns_.fail(failure); });
    workers_.ring_all();
}

void TaskCrew::Turns::settle(WorkerId worker, HeldRuns& held) {
    guarded([&] { settle_all(worker, held); });
    if (failed()) held.runs.clear();
}

void TaskCrew::Turns::settle_all(WorkerId worker, HeldRuns& held) {
    for (StreamEnd& end : held.ends) {
        ends_.lower(end);
        board_.end(std::move(end));
        halt();
    }
    held.ends.clear();
    if (!halted_ && halting_.load(std::memory_order_relaxed)) {
        halted_ = true;
        board_.halt();
    }
    if (!held.runs.empty()) board_.complete(worker, held.runs, ticks());
}

long TaskCrew::Turns::patience_ns(WorkerId worker) const {
    const std::optional<std::uint64_t> patience = board_.patience_ticks(worker);
    return patience ? patience_of(*patience) : kPatienceNs;
}

std::vector<std::uint64_t> TaskCrew::next_frames() const {
    std::vector<std::uint64_t> numbers = board_.next_frames();
    if (plan_.branches.empty()) return numbers;
    for (std::size_t k = 0; k < units_.size(); ++k)
        if (units_[k].emits) numbers[units_[k].segment + 1] = memory_.emissions[k].next_number;
    if (const auto stop = board_.stopped_by()) numbers[plan_.steps[stop->step].task.branch] = stop->number;
    return numbers;
}

void TaskCrew::add_to(RunTotals& totals) const {
    totals.resize(plan_.steps.size());
    for (const Seat& seat : seats_) {
        for (const WorkerNotes::StepTimes& step : seat.worker->notes().steps())
            totals.add(step.step, step.times, step.late);
    }
    const FrameCounts& counts = board_.counts();
    totals.latencies.add(counts.latencies);
    totals.frames += counts.begun;
    totals.dropped += counts.dropped;
    totals.delivered += counts.delivered;
    totals.skipped += counts.skipped;
}

std::vector<Durations> TaskCrew::step_times_on(policy::KindId kind) const {
    std::vector<Durations> times;
    for (std::size_t w = 0; w < seats_.size(); ++w) {
        const std::vector<WorkerNotes::StepTimes>& own = seats_[w].worker->notes().steps();
        if (settings_.board.kinds[w] != kind || own.empty()) continue;
        times.resize(own.size());
        for (const WorkerNotes::StepTimes& step : own) times[step.step].add(step.times);
    }
    return times;
}

std::vector<ThreadReport> TaskCrew::thread_reports() const {
    std::vector<ThreadReport> reports;
    for (const Seat& seat : seats_) {
        std::uint64_t work = 0;
        const WorkerNotes& notes = seat.worker->notes();
        for (const WorkerNotes::StepTimes& step : notes.steps()) work += step.times.sum();
        reports.push_back(seat.setup.report(work, notes.pull_waits(), Durations{}));
    }
    return reports;
}

}  // namespace tidemill
