#include "tidemill/lab/sim/os/hmp.hpp"

#include <algorithm>
#include <optional>

#include "tidemill/lab/sim/os/system.hpp"

namespace tidemill::os {

namespace {

constexpr double kMost = 1023;
constexpr double kDelay_s = 0.004;
constexpr double kStarving = 0.75;  // of the time that it could run, a program that has less than this

bool is_big(const System& system, CoreId core) {
    return system.machine().cores[core] == 0;
}

// The core of a domain with the fewest programs, the one given among equals.
std::optional<CoreId> emptiest(const System& system, bool big, CoreId first) {
    std::optional<CoreId> emptiest;
    for (CoreId i = 0; i < system.cores(); ++i) {
        const CoreId core = (first + i) % system.cores();
        if (is_big(system, core) != big) continue;
        if (!emptiest || system.runnable(core) < system.runnable(*emptiest)) emptiest = core;
    }
    return emptiest;
}

std::optional<CoreId> idle_core(const System& system, bool big, CoreId first) {
    const std::optional<CoreId> core = emptiest(system, big, first);
    return core && system.runnable(*core) == 0 ? core : std::nullopt;
}

// Within a domain programs count alike.
void even_out(System& system, CoreId to) {
    std::optional<CoreId> from;
    for (CoreId core = 0; core < system.cores(); ++core) {
        if (is_big(system, core) != is_big(system, to)) continue;
        if (!from || system.runnable(core) > system.runnable(*from)) from = core;
    }
    const bool far_more = system.runnable(*from) >= system.runnable(to) + 2;
    if (far_more && !system.waiting(*from).empty()) system.move(system.waiting(*from)[0], to);
}

}  // namespace

CoreId Hmp::place_new(const System& system, TaskId, CoreId near) {
    return emptiest(system, true, near).value_or(near);
}

CoreId Hmp::place_woken(const System& system, TaskId task, CoreId before) {
    if (!is_big(system, before) && load(system, task) > thresholds_.up && settled(system, task)) {
        if (const auto big = idle_core(system, true, before)) return *big;
    }
    if (is_big(system, before) && load(system, task) < thresholds_.down && settled(system, task)) {
        if (const auto little = emptiest(system, false, before)) return *little;
    }
    return *emptiest(system, is_big(system, before), before);
}

void Hmp::idle(System& system, CoreId core) {
    if (!is_big(system, core)) return even_out(system, core);
    even_out(system, core);
    if (system.runnable(core) == 0) pull_up(system, core);
}

void Hmp::tick(System& system, CoreId core) {
    next_s_.resize(system.cores());
    if (system.runnable(core) == 0) return idle(system, core);
    if (is_big(system, core)) off_load(system, core);
    if (system.now_s() < next_s_[core]) return;
    next_s_[core] = system.now_s() + System::kBalance_s;
    even_out(system, core);
}

// By the layer, how much of it a slower core would make longer.
double Hmp::load(const System& system, TaskId task) const {
    const auto slowest = static_cast<KindId>(system.machine().kinds.size() - 1);
    const double longest = 1 / system.machine().kinds[slowest].speed;
    const double need = std::min(1.0, system.factor(task, slowest).value_or(longest) / longest);
    return kMost * system.runnable_share(task) * need;
}

bool Hmp::settled(const System& system, TaskId task) {
    if (task >= moved_s_.size()) moved_s_.resize(task + 1, -kDelay_s);
    return system.now_s() - moved_s_[task] >= kDelay_s;
}

void Hmp::move(System& system, TaskId task, CoreId to) {
    moved_s_[task] = system.now_s();
    system.move(task, to);
}

// The heaviest program that runs on a little core and is above the threshold.
void Hmp::pull_up(System& system, CoreId to) {
    std::optional<TaskId> heaviest;
    for (CoreId core = 0; core < system.cores(); ++core) {
        const std::optional<TaskId> task = system.running(core);
        if (!task || is_big(system, core) || !settled(system, *task)) continue;
        if (load(system, *task) <= thresholds_.up) continue;
        if (!heaviest || load(system, *task) > load(system, *heaviest)) heaviest = task;
    }
    if (heaviest) move(system, *heaviest, to);
}

// The lightest of those that have too little of their core.
void Hmp::off_load(System& system, CoreId from) {
    const std::optional<CoreId> little = idle_core(system, false, from);
    if (!little || system.runnable(from) < 2 || idle_core(system, true, from)) return;
    std::optional<TaskId> lightest;
    for (const TaskId task : system.on(from)) {
        const bool starves = system.utilisation(task) < kStarving * system.runnable_share(task);
        if (!starves || !settled(system, task)) continue;
        if (!lightest || load(system, task) < load(system, *lightest)) lightest = task;
    }
    if (lightest) move(system, *lightest, *little);
}

}  // namespace tidemill::os
