#include "tidemill/run/dynamic/task_crew.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

TaskCrew::TaskCrew(Graph& graph, const Plan& plan, const std::vector<Kernel>& kernels,
                   const Settings& settings, const RunOptions& options)
    : settings_(settings),
      graph_(graph),
      plan_(plan),
      kernels_(kernels),
      memory_(plan, kernels, settings.board.tokens),
      board_(kernels, settings.board),
      idle_(1 + std::ranges::max(settings.board.kinds)) {
    for (std::size_t w = 0; w < settings_.board.kinds.size(); ++w) {
        TaskWorker::Options chosen;
        chosen.index = w;
        chosen.statistics = options.statistics;
        for (Observer* observer : options.observers) {
            chosen.observers.push_back(&observer->watch({plan, 0, w}));
        }
        chosen.numbers = options.numbers;
        chosen.stopping = &halting_;
        seats_.emplace_back(settings_.cores, std::move(chosen));
    }
}

// The first worker works on the graph's own modules, and so does everyone where a module is not cloned.
void TaskCrew::settle(std::size_t index) {
    Seat& seat = seats_[index];
    std::vector<Module*> modules = modules_of(graph_);
    if (index > 0) seat.place.clone_for(plan_.steps, graph_, modules);
    seat.worker.emplace(plan_, kernels_, modules, memory_, board_, seat.options);
}

void TaskCrew::run(ThreadPool& pool) {
    std::vector<ThreadPlace*> places;
    for (Seat& seat : seats_) places.push_back(&seat.place);
    run_in_places(
        pool, places, [this](std::size_t seat) { settle(seat); }, [this](std::size_t seat) { serve(seat); });
    for (Seat& seat : seats_) seat.place.merge_clones();
}

void TaskCrew::serve(std::size_t index) {
    Seat& seat = seats_[index];
    while (true) {
        Seat* other = nullptr;
        {
            const std::lock_guard lock(turn_);
            take_turn(index);
            if (board_.finished()) break;
            if (seat.runs.empty()) idle_[kind_of(index)].push_back(index);
            other = next_to_wake(index);
        }
        if (other) other->bell.ring();
        if (seat.runs.empty()) {
            seat.worker->begin_wait();
            rest(index);
        } else {
            seat.worker->end_wait();
            seat.worker->run(seat.runs);
        }
    }
    ring_all();
}

void TaskCrew::take_turn(std::size_t index) {
    Seat& seat = seats_[index];
    std::vector<StreamEnd>& ends = seat.worker->ends();
    for (StreamEnd& end : ends) board_.end(std::move(end));
    if (!ends.empty()) halt();
    ends.clear();
    if (!halted_ && halting_.load(std::memory_order_relaxed)) {
        halted_ = true;
        board_.halt();
    }
    const auto worker = static_cast<policy::WorkerId>(index);
    if (!seat.runs.empty()) board_.complete(worker, seat.runs, ticks());
    board_.take(worker, hungry(index), seat.runs);
}

// How many others the ready tasks are to be shared with.
std::size_t TaskCrew::hungry(std::size_t index) const {
    const policy::KindId kind = kind_of(index);
    return board_.ready().of(kind).ticks < settings_.board.bundle_ticks ? 0 : idle_[kind].size();
}

// Whoever is woken wakes the next one, also when others have taken what it was woken for.
TaskCrew::Seat* TaskCrew::next_to_wake(std::size_t index) {
    for (policy::KindId kind = 0; kind < idle_.size(); ++kind) {
        if (idle_[kind].empty() || !is_worth_waking(kind, index)) continue;
        Seat& other = seats_[idle_[kind].back()];
        idle_[kind].pop_back();
        return &other;
    }
    return nullptr;
}

// Little work is left to whoever has just taken some, but not what that worker cannot run.
bool TaskCrew::is_worth_waking(policy::KindId kind, std::size_t index) const {
    const ReadyWork::Amount ready = board_.ready().of(kind);
    if (ready.tasks == 0) return false;
    if (board_.ready().of_only(kind, kind_of(index)).tasks > 0) return true;
    return ready.ticks + board_.expected_ticks(seats_[index].runs) >= settings_.board.bundle_ticks;
}

void TaskCrew::rest(std::size_t index) {
    seats_[index].bell.wait(settings_.waiting);
    const std::lock_guard lock(turn_);
    seats_[index].bell.reset();
    std::erase(idle_[kind_of(index)], index);
}

void TaskCrew::ring_all() {
    for (Seat& seat : seats_) seat.bell.ring();
}

void TaskCrew::add_to(RunTotals& totals) const {
    totals.step_times.resize(plan_.steps.size());
    for (const Seat& seat : seats_) {
        const std::vector<Durations>& times = seat.worker->step_times();
        for (std::size_t step = 0; step < times.size(); ++step) totals.step_times[step].add(times[step]);
    }
    totals.latencies.add(board_.latencies());
    totals.frames += board_.begun();
    totals.delivered += board_.delivered();
    totals.skipped += board_.skipped();
}

std::vector<ThreadReport> TaskCrew::thread_reports() const {
    std::vector<ThreadReport> reports;
    for (const Seat& seat : seats_) {
        std::uint64_t work = 0;
        for (const Durations& times : seat.worker->step_times()) work += times.sum();
        reports.push_back(seat.place.report(work, seat.worker->waits(), Durations{}));
    }
    return reports;
}

}  // namespace tidemill
