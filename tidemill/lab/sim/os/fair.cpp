#include "tidemill/lab/sim/os/fair.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/lab/sim/os/system.hpp"

namespace tidemill::os {

namespace {

constexpr double kImbalance = 1.17;
constexpr double kRoom = 1.25;  // that a core must have beyond what fits it

double speed(const System& system, CoreId core) {
    return system.machine().kind_of(core).speed;
}

bool fits(const System& system, TaskId task, CoreId core) {
    return kRoom * system.utilisation(task) <= speed(system, core);
}

// The program that uses its core most, of all that run on slower cores and that satisfy.
template <typename Satisfies>
std::optional<TaskId> largest_below(const System& system, CoreId core, Satisfies satisfies) {
    std::optional<TaskId> largest;
    for (CoreId other = 0; other < system.cores(); ++other) {
        const std::optional<TaskId> task = system.running(other);
        if (!task || speed(system, other) >= speed(system, core) || !satisfies(*task, other)) continue;
        if (!largest || system.utilisation(*task) > system.utilisation(*largest)) largest = task;
    }
    return largest;
}

}  // namespace

CoreId Fair::place_new(const System& system, TaskId task, CoreId near) {
    if (const std::optional<CoreId> idle = idle_core(system, task, near)) return *idle;
    CoreId least = 0;
    for (CoreId core = 1; core < system.cores(); ++core) {
        if (relative_load(system, core) < relative_load(system, least)) least = core;
    }
    return least;
}

CoreId Fair::place_woken(const System& system, TaskId task, CoreId before) {
    return idle_core(system, task, before).value_or(before);
}

void Fair::idle(System& system, CoreId core) {
    if (const std::optional<CoreId> from = busiest_but(system, core)) {
        system.move(system.waiting(*from)[0], core);
    } else if (const std::optional<TaskId> task = upgrade(system, core)) {
        system.move(*task, core);
    }
}

void Fair::tick(System& system, CoreId core) {
    cores_.resize(system.cores());
    if (system.now_s() < cores_[core].next_s) return;
    const bool is_idle = system.runnable(core) == 0;
    cores_[core].next_s = system.now_s() + (is_idle ? System::kTick_s : System::kBalance_s);
    if (is_idle) {
        idle(system, core);
    } else {
        balance(system, core);
    }
}

// A factor says what a program costs on a core of that capacity, so that is in it already.
double Fair::load(const System& system, TaskId task, CoreId core) const {
    const std::optional<double> factor = system.factor(task, system.machine().cores[core]);
    return system.weight(task) * (factor ? *factor * capacity(system, core) : 1);
}

double Fair::load(const System& system, CoreId core) const {
    double sum = system.running(core) ? load(system, *system.running(core), core) : 0;
    for (const TaskId task : system.waiting(core)) sum += load(system, task, core);
    return sum;
}

double Fair::relative_load(const System& system, CoreId core) const {
    return load(system, core) / capacity(system, core);
}

std::optional<CoreId> Fair::idle_core(const System& system, TaskId task, CoreId first) const {
    std::optional<CoreId> largest;
    for (CoreId i = 0; i < system.cores(); ++i) {
        const CoreId core = (first + i) % system.cores();
        if (system.runnable(core) > 0) continue;
        if (suits(system, task, core)) return core;
        if (!largest || speed(system, core) > speed(system, *largest)) largest = core;
    }
    return largest;
}

std::optional<CoreId> Fair::busiest_but(const System& system, CoreId core) const {
    std::optional<CoreId> busiest;
    for (CoreId other = 0; other < system.cores(); ++other) {
        if (other == core || system.runnable(other) < 2) continue;
        if (!busiest || relative_load(system, other) > relative_load(system, *busiest)) busiest = other;
    }
    return busiest;
}

double Fair::imbalance(const System& system, CoreId from, CoreId to) const {
    const double most = relative_load(system, from);
    const double here = relative_load(system, to);
    if (most <= kImbalance * here) return 0;
    double loads = 0;
    double capacities = 0;
    for (CoreId core = 0; core < system.cores(); ++core) {
        loads += load(system, core);
        capacities += capacity(system, core);
    }
    const double mean = loads / capacities;
    return std::min((most - mean) * capacity(system, from), (mean - here) * capacity(system, to));
}

void Fair::balance(System& system, CoreId to) {
    const std::optional<CoreId> from = busiest_but(system, to);
    double left = from ? imbalance(system, *from, to) : 0;
    if (left <= 0) return;
    const std::vector<TaskId> waiting(system.waiting(*from).begin(), system.waiting(*from).end());
    const double shrunk = std::exp2(-cores_[to].failed);
    ++cores_[to].failed;
    for (const TaskId task : waiting) {
        const double moved = load(system, task, to);
        if (moved * shrunk > left) continue;
        system.move(task, to);
        left -= moved;
        cores_[to].failed = 0;
    }
}

double CapacityAware::capacity(const System& system, CoreId core) const {
    return speed(system, core);
}

bool CapacityAware::suits(const System& system, TaskId task, CoreId core) const {
    return fits(system, task, core);
}

std::optional<TaskId> CapacityAware::upgrade(const System& system, CoreId to) const {
    return largest_below(system, to, [&](TaskId task, CoreId on) { return !fits(system, task, on); });
}

double Itmt::capacity(const System&, CoreId) const {
    return 1;
}

bool Itmt::suits(const System&, TaskId, CoreId) const {
    return false;
}

std::optional<TaskId> Itmt::upgrade(const System& system, CoreId to) const {
    return largest_below(system, to, [](TaskId, CoreId) { return true; });
}

}  // namespace tidemill::os
