#include "tidemill/lab/sim/os/system.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/lab/sim/os/exchange.hpp"
#include "tidemill/lab/sim/sim_error.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

namespace tidemill::os {

namespace {

constexpr double kNice0 = 1024;
constexpr double kDone_s = 1e-10;  // less work than that is left by rounding

// The kernel's defaults, which grow with the cores that there are.
double scaled(double ms, std::size_t cores) {
    return ms * 1e-3 * std::bit_width(cores);
}
constexpr double kLatency_ms = 6;
constexpr double kLeastSlice_ms = 0.75;
constexpr double kWakeUp_ms = 1;

void check(const Machine& machine) {
    if (machine.cores.empty()) throw SimError("a simulated system needs at least one core");
    for (const KindId kind : machine.cores) {
        if (kind >= machine.kinds.size()) {
            throw SimError(fmt::format("a core is of kind {}, but there are {}", kind, machine.kinds.size()));
        }
    }
    for (const CoreKind& kind : machine.kinds) {
        if (!(kind.speed > 0) || kind.steps.empty() || !(kind.steps[0] > 0)) {
            throw SimError(fmt::format("cores of kind '{}' need a speed and frequencies above 0", kind.name));
        }
    }
}

void check(const Program& program, std::size_t cores) {
    const bool works = std::ranges::all_of(program.phases, [](const Phase& phase) {
        return phase.work_s > 0 && phase.core_bound >= 0 && phase.core_bound <= 1 && phase.sleep_s >= 0 &&
               phase.pipeline > 0;
    });
    if (!works || program.phases.empty() || program.rounds == 0) {
        throw SimError(
            fmt::format("program '{}' needs phases of work, core-bound to a share of 0 to 1", program.name));
    }
    if (!(program.arrival_s >= 0 && program.weight > 0 && program.near < cores)) {
        throw SimError(fmt::format(
            "program '{}' needs an arrival of at least 0, a weight above 0 and a core that there is",
            program.name));
    }
}

}  // namespace

System::System(const Machine& machine, std::span<const Program> programs, Scheduler& scheduler,
               Bridged bridged)
    : machine_(machine),
      programs_(programs.begin(), programs.end()),
      scheduler_(scheduler),
      bridged_(bridged),
      tasks_(programs.size()),
      cores_(machine.cores.size()) {
    check(machine_);
    for (const Program& program : programs_) check(program, cores_.size());
    for (CoreId id = 0; id < cores(); ++id) cores_[id].speed = machine_.kind_of(id).speed;
    outcome_.turnaround_s.resize(programs_.size());
    outcome_.busy_s.resize(cores_.size());
    for (TaskId id = 0; id < tasks_.size(); ++id) plan(programs_[id].arrival_s, What::start, id);
    for (CoreId id = 0; id < cores(); ++id) plan(kTick_s * id / cores(), What::tick, id);
}

Outcome System::run_until(double last_s) {
    while (ended_ < tasks_.size()) {
        interruption_point();
        const Event event = events_.top();
        if (event.time_s > last_s) break;
        events_.pop();
        now_s_ = event.time_s;
        handle(event);
    }
    outcome_.makespan_s = now_s_;
    return outcome_;
}

std::vector<TaskId> System::on(CoreId core) const {
    std::vector<TaskId> all = cores_[core].waiting;
    if (cores_[core].running) all.push_back(*cores_[core].running);
    return all;
}

std::optional<double> System::factor(TaskId task, KindId kind) const {
    if (bridged_.layer == nullptr || !bridged_.factors_used) return {};
    const bridge::Factor factor = bridged_.layer->factors().read(task, kind);
    if (factor.quality == bridge::Quality::absent) return {};
    return factor.value;
}

double System::load(TaskId task, CoreId core) const {
    return weight(task) * factor(task, machine_.cores[core]).value_or(1);
}

double System::load(CoreId core) const {
    double sum = 0;
    for (const TaskId task : waiting(core)) sum += load(task, core);
    return running(core) ? sum + load(*running(core), core) : sum;
}

double System::runnable_share(TaskId task) const {
    DecayingShare share = tasks_[task].runnable;
    const State state = tasks_[task].state;
    share.advance(now_s_, state == State::waiting || state == State::running ? 1 : 0);
    return share.value();
}

double System::utilisation(TaskId task) const {
    DecayingShare share = tasks_[task].used;
    share.advance(now_s_, tasks_[task].state == State::running ? cores_[tasks_[task].core].speed : 0);
    return share.value();
}

void System::move(TaskId task, CoreId to) {
    const CoreId from = tasks_[task].core;
    migrate(task, to);
    dispatch(to);
    dispatch(from);
}

void System::exchange(TaskId task, TaskId other) {
    const CoreId from = tasks_[task].core;
    const CoreId to = tasks_[other].core;
    migrate(task, to);
    migrate(other, from);
    dispatch(to);
    dispatch(from);
}

std::uint64_t System::plan(double time_s, What what, std::uint32_t of) {
    events_.push({time_s, ++events_planned_, what, of});
    return events_planned_;
}

void System::handle(const Event& event) {
    switch (event.what) {
        case What::start:
            return start(event.of);
        case What::wake:
            return wake(event.of);
        case What::decide:
            if (cores_[event.of].planned == event.number) decide(event.of);
            return;
        case What::tick:
            return tick(event.of);
    }
}

void System::start(TaskId id) {
    if (bridged_.layer != nullptr) bridged_.layer->exec(id, programs_[id].name);
    tasks_[id].runnable.start(now_s_, 1);  // as the kernel has it, until more is known
    tasks_[id].used.start(now_s_, 0);
    begin_phase(id);
    const CoreId core = scheduler_.place_new(*this, id, programs_[id].near);
    advance(core);
    // A new one comes behind those that are there.
    tasks_[id].virtual_s = cores_[core].virtual_s + slice_s(core);
    put_on(id, core);
    dispatch(core);
}

void System::wake(TaskId id) {
    if (tasks_[id].round == programs_[id].rounds) return end(id);
    begin_phase(id);
    const CoreId core = scheduler_.place_woken(*this, id, tasks_[id].core);
    advance(core);
    const double behind_s = cores_[tasks_[id].core].virtual_s - cores_[core].virtual_s;
    const double least_s = cores_[core].virtual_s - scaled(kLatency_ms, cores_.size()) / 2;
    tasks_[id].virtual_s = std::max(tasks_[id].virtual_s - behind_s, least_s);
    put_on(id, core);
    const std::optional<TaskId> now = cores_[core].running;
    if (now && tasks_[id].virtual_s + scaled(kWakeUp_ms, cores_.size()) < tasks_[*now].virtual_s) {
        put_back(core);
    }
    dispatch(core);
}

void System::decide(CoreId id) {
    advance(id);
    if (tasks_[*cores_[id].running].left_s <= kDone_s) {
        end_phase(id);
    } else {
        put_back(id);
    }
    dispatch(id);
}

void System::tick(CoreId id) {
    advance(id);
    if (machine_.follows_load) follow_load(id);
    if (bridged_.layer != nullptr && id == 0) bridged_.layer->generate();
    scheduler_.tick(*this, id);
    exchange_now_and_then(id);
    plan(now_s_ + kTick_s, What::tick, id);
}

void System::advance(CoreId id) {
    Core& core = cores_[id];
    const double time_s = now_s_ - core.since_s;
    core.since_s = now_s_;
    if (machine_.follows_load) core.busy.advance(now_s_, core.running ? 1 : 0);
    if (!core.running || time_s == 0) return;
    outcome_.busy_s[id] += time_s;
    count_work(id, time_s);
    double least_s = tasks_[*core.running].virtual_s;
    if (!core.waiting.empty()) least_s = std::min(least_s, tasks_[core.waiting[0]].virtual_s);
    core.virtual_s = std::max(core.virtual_s, least_s);
}

void System::count_work(CoreId id, double time_s) {
    const TaskId of = *cores_[id].running;
    const Phase& now = phase(of);
    const double work_s = time_s / now.slowdown(machine_.cores[id], cores_[id].speed);
    const double clock_ghz = machine_.kind_of(id).clock_ghz * cores_[id].frequency;
    outcome_.done_s += work_s;
    Task& task = tasks_[of];
    task.left_s -= work_s;
    task.virtual_s += time_s * kNice0 / weight(of);
    task.done += {.time_ns = static_cast<std::uint64_t>(time_s * 1e9),
                  .instructions =
                      static_cast<std::uint64_t>(work_s * now.core_bound * machine_.kinds[0].clock_ghz * 1e9),
                  .cycles = static_cast<std::uint64_t>(time_s * 1e9 * clock_ghz),
                  .misses = static_cast<std::uint64_t>(work_s * (1 - now.core_bound) * 1e9 / kMiss_ns)};
}

void System::end_phase(CoreId id) {
    const TaskId of = *cores_[id].running;
    const double sleep_s = phase(of).sleep_s;
    take_off(of);
    Task& task = tasks_[of];
    task.phase = (task.phase + 1) % programs_[of].phases.size();
    if (task.phase == 0) ++task.round;
    if (sleep_s > 0) {
        turn(of, State::sleeping);
        plan(now_s_ + sleep_s, What::wake, of);
    } else if (task.round == programs_[of].rounds) {
        end(of);
    } else {
        begin_phase(of);
        put_on(of, id);
    }
}

void System::end(TaskId id) {
    turn(id, State::ended);
    ++ended_;
    outcome_.turnaround_s[id] = now_s_ - programs_[id].arrival_s;
    if (bridged_.layer != nullptr) bridged_.layer->exit(id);
}

void System::begin_phase(TaskId id) {
    tasks_[id].left_s = phase(id).work_s;
}

// Both shares hold to the degree of the state until now.
void System::turn(TaskId id, State state) {
    Task& task = tasks_[id];
    const bool runs = task.state == State::running;
    task.runnable.advance(now_s_, runs || task.state == State::waiting ? 1 : 0);
    task.used.advance(now_s_, runs ? cores_[task.core].speed : 0);
    task.state = state;
}

void System::put_on(TaskId id, CoreId to) {
    turn(id, State::waiting);
    tasks_[id].core = to;
    std::vector<TaskId>& queue = cores_[to].waiting;
    const auto behind = std::ranges::upper_bound(queue, tasks_[id].virtual_s, {},
                                                 [this](TaskId other) { return tasks_[other].virtual_s; });
    queue.insert(behind, id);
}

void System::take_off(TaskId id) {
    Core& core = cores_[tasks_[id].core];
    tell(id);
    if (core.running == id) {
        core.running.reset();
    } else {
        std::erase(core.waiting, id);
    }
}

void System::migrate(TaskId id, CoreId to) {
    Task& task = tasks_[id];
    const CoreId from = task.core;
    advance(from);
    advance(to);
    take_off(id);
    task.virtual_s += cores_[to].virtual_s - cores_[from].virtual_s;
    task.left_s += machine_.migration_us * 1e-6;
    ++outcome_.migrations;
    put_on(id, to);
}

// The running one waits again.
void System::put_back(CoreId id) {
    const TaskId task = *cores_[id].running;
    take_off(task);
    put_on(task, id);
}

void System::dispatch(CoreId id) {
    Core& core = cores_[id];
    advance(id);
    if (!core.running && core.waiting.empty()) scheduler_.idle(*this, id);
    if (!core.running && !core.waiting.empty()) {
        const TaskId next = core.waiting[0];
        core.waiting.erase(core.waiting.begin());
        turn(next, State::running);
        core.running = next;
        core.begun_s = now_s_;
        ++outcome_.switches;
    }
    plan_decision(id);
}

void System::plan_decision(CoreId id) {
    Core& core = cores_[id];
    core.planned = 0;
    if (!core.running) return;
    const Task& task = tasks_[*core.running];
    const double end_s =
        now_s_ + std::max(0.0, task.left_s) * phase(*core.running).slowdown(machine_.cores[id], core.speed);
    const double slice_end_s = std::max(now_s_, core.begun_s + slice_s(id));
    core.planned = plan(core.waiting.empty() ? end_s : std::min(end_s, slice_end_s), What::decide, id);
}

double System::slice_s(CoreId id) const {
    const double count = static_cast<double>(std::max<std::size_t>(1, runnable(id)));
    return std::max(scaled(kLatency_ms, cores_.size()) / count, scaled(kLeastSlice_ms, cores_.size()));
}

void System::tell(TaskId id) {
    Task& task = tasks_[id];
    if (bridged_.layer != nullptr) bridged_.layer->statistic(id, machine_.cores[task.core], task.done);
    task.done = {};
}

void System::exchange_now_and_then(CoreId id) {
    if (bridged_.layer == nullptr || !bridged_.factors_used || !bridged_.exchanges) return;
    if (now_s_ < cores_[id].next_exchange_s) return;
    cores_[id].next_exchange_s = now_s_ + kBalance_s;
    exchange_by_factors(*this, id);
}

// A quarter more than it needs, as the kernel's governor has it.
void System::follow_load(CoreId id) {
    Core& core = cores_[id];
    const CoreKind& kind = machine_.kind_of(id);
    const double wanted = 1.25 * core.busy.value() * core.frequency;
    const auto step = std::ranges::lower_bound(kind.steps, wanted);
    core.frequency = step == kind.steps.end() ? kind.steps.back() : *step;
    core.speed = kind.speed * core.frequency;
    if (core.running) plan_decision(id);
}

}  // namespace tidemill::os
