#include "tidemill/run/dynamic/task_crew.hpp"

#include <algorithm>
#include <mutex>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

TaskCrew::TaskCrew(Graph& graph, const Plan& plan, const std::vector<Kernel>& kernels,
                   const Settings& settings, const RunOptions& options)
    : settings_(settings),
      plan_(plan),
      memory_(plan, kernels, settings.board.tokens),
      board_(kernels, settings.board) {
    for (std::size_t w = 0; w < settings.board.workers; ++w) {
        TaskWorker::Options chosen;
        chosen.index = w;
        chosen.statistics = options.statistics;
        for (Observer* observer : options.observers) {
            chosen.observers.push_back(&observer->watch({plan, 0, w}));
        }
        chosen.numbers = options.numbers;
        chosen.stopping = &halting_;
        seats_.emplace_back();
        seats_[w].worker.emplace(plan, kernels, modules_for(graph, plan, w), memory_, board_, chosen);
    }
}

// The first worker works on the graph's own modules, and so does everyone where a module is not cloned.
std::vector<Module*> TaskCrew::modules_for(Graph& graph, const Plan& plan, std::size_t index) {
    std::vector<Module*> modules;
    for (std::size_t m = 0; m < graph.module_count(); ++m) modules.push_back(&graph.module(m));
    if (index == 0) return modules;
    for (const Step& step : plan.steps) {
        const TaskId id = step.task.id;
        Module& original = graph.module(id.module);
        const bool copied = modules[id.module] != &original;
        if (original.tasks()[id.task].options.replication != Replication::cloned || copied) continue;
        seats_[index].clones.push_back({&original, graph.clone(id.module)});
        seats_[index].clones.back().copy->forget_totals();
        modules[id.module] = seats_[index].clones.back().copy.get();
    }
    return modules;
}

const PuSet* TaskCrew::cores_of(std::size_t index) const {
    const std::vector<PuSet>& cores = settings_.cores;
    return cores.empty() || cores[index].empty() ? nullptr : &cores[index];
}

void TaskCrew::run(ThreadPool& pool) {
    if (seats_.size() == 1 && !cores_of(0)) {
        serve(0);
    } else {
        std::vector<ThreadPool::Job> jobs;
        for (std::size_t w = 0; w < seats_.size(); ++w) {
            jobs.push_back([this, w] {
                std::optional<PinGuard> pinned;
                if (const PuSet* cores = cores_of(w)) seats_[w].pin_error = pinned.emplace(*cores).error();
                serve(w);
            });
        }
        pool.run_all(std::move(jobs));
    }
    for (Seat& seat : seats_) {
        for (Clone& clone : seat.clones) clone.original->merge(*clone.copy);
    }
}

void TaskCrew::serve(std::size_t index) {
    Seat& seat = seats_[index];
    while (true) {
        Seat* other = nullptr;
        {
            const std::lock_guard lock(turn_);
            take_turn(index);
            if (board_.finished()) break;
            if (seat.runs.empty()) {
                idle_.push_back(index);
            } else {
                other = next_to_wake(seat);
            }
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
    board_.take(worker, hungry(), seat.runs);
}

// How many others the ready tasks are to be shared with.
std::size_t TaskCrew::hungry() const {
    return board_.ready_ticks() < settings_.board.bundle_ticks ? 0 : idle_.size();
}

// Whoever is woken wakes the next one.
TaskCrew::Seat* TaskCrew::next_to_wake(const Seat& seat) {
    if (idle_.empty() || board_.ready_tasks() == 0) return nullptr;
    if (board_.ready_ticks() + board_.expected_ticks(seat.runs) < settings_.board.bundle_ticks)
        return nullptr;
    Seat& other = seats_[idle_.back()];
    idle_.pop_back();
    return &other;
}

void TaskCrew::rest(std::size_t index) {
    seats_[index].bell.wait(settings_.waiting);
    const std::lock_guard lock(turn_);
    seats_[index].bell.reset();
    std::erase(idle_, index);
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
    for (std::size_t w = 0; w < seats_.size(); ++w) {
        const Seat& seat = seats_[w];
        std::uint64_t work = 0;
        for (const Durations& times : seat.worker->step_times()) work += times.sum();
        const PuSet* cores = cores_of(w);
        reports.push_back({to_ns(work) / 1000, report_of(seat.worker->waits()), report_of(Durations{}),
                           cores ? to_string(*cores) : "any", seat.pin_error ? seat.pin_error->reason : ""});
    }
    return reports;
}

}  // namespace tidemill
