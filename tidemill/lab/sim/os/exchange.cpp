#include "tidemill/lab/sim/os/exchange.hpp"

#include <optional>
#include <vector>

#include "tidemill/lab/sim/os/system.hpp"

namespace tidemill::os {

namespace {

constexpr double kWorthwhile = 0.1;  // of the load of both, less is not worth a migration

struct Pair {
    TaskId task;
    TaskId other;
    double saved = 0;
};

// Growth of a task's load on the other core; nothing where that is not known.
std::optional<double> growth(const System& system, TaskId task, CoreId from, CoreId to) {
    const KindId kind = system.machine().cores[from];
    const KindId other = system.machine().cores[to];
    if (!system.factor(task, kind) || !system.factor(task, other)) return {};
    return system.load(task, to) - system.load(task, from);
}

void consider(const System& system, CoreId core, CoreId other, std::optional<Pair>& best) {
    for (const TaskId task : system.on(core)) {
        const std::optional<double> there = growth(system, task, core, other);
        if (!there) continue;
        for (const TaskId partner : system.on(other)) {
            const std::optional<double> here = growth(system, partner, other, core);
            if (!here) continue;
            const double before = system.load(task, core) + system.load(partner, other);
            const double saved = -(*there + *here);
            if (saved > kWorthwhile * before && (!best || saved > best->saved)) best = {task, partner, saved};
        }
    }
}

void take_up(System& system, CoreId idle) {
    for (CoreId other = 0; other < system.cores(); ++other) {
        const std::optional<TaskId> task = system.running(other);
        if (!task) continue;
        const std::optional<double> grows = growth(system, *task, other, idle);
        if (grows && -*grows > kWorthwhile * system.load(*task, other)) return system.move(*task, idle);
    }
}

}  // namespace

void exchange_by_factors(System& system, CoreId core) {
    if (system.runnable(core) == 0) return take_up(system, core);
    std::optional<Pair> best;
    for (CoreId other = 0; other < system.cores(); ++other) {
        if (system.machine().cores[other] != system.machine().cores[core])
            consider(system, core, other, best);
    }
    if (best) system.exchange(best->task, best->other);
}

}  // namespace tidemill::os
