#include "tidemill/lab/sim/os/cfs.hpp"

#include <algorithm>
#include <optional>

#include "tidemill/lab/sim/os/system.hpp"

namespace tidemill::os {

namespace {

// A new program leaves its parent's core for one with less than this share of the load there.
constexpr double kFarLess = 100.0 / 112;
// A core takes programs from one with more than this many times its own load.
constexpr double kFarMore = 1.25;

CoreId least_loaded(const System& system) {
    CoreId least = 0;
    for (CoreId core = 1; core < system.cores(); ++core) {
        if (system.load(core) < system.load(least)) least = core;
    }
    return least;
}

// The one with most load of those that have a program to give.
std::optional<CoreId> busiest_but(const System& system, CoreId core) {
    std::optional<CoreId> busiest;
    for (CoreId other = 0; other < system.cores(); ++other) {
        if (other == core || system.runnable(other) < 2) continue;
        if (!busiest || system.load(other) > system.load(*busiest)) busiest = other;
    }
    return busiest;
}

// How much load is to move so that neither is on the other side of the mean; 0 where it is well as it is.
double imbalance(const System& system, CoreId from, CoreId to) {
    const double most = system.load(from);
    const double here = system.load(to);
    if (most <= kFarMore * here) return 0;
    double all = 0;
    for (CoreId core = 0; core < system.cores(); ++core) all += system.load(core);
    const double mean = all / system.cores();
    const double one = most / static_cast<double>(system.runnable(from));
    const double half_way = std::min(most - mean, mean - here);
    return half_way >= one || most - here < one ? std::max(0.0, half_way) : one;
}

}  // namespace

CoreId Cfs::place_new(const System& system, TaskId, CoreId near) {
    const CoreId least = least_loaded(system);
    return system.load(least) < kFarLess * system.load(near) ? least : near;
}

CoreId Cfs::place_woken(const System& system, TaskId, CoreId before) {
    if (system.runnable(before) == 0) return before;
    for (CoreId core = 0; core < system.cores(); ++core) {
        if (system.runnable(core) == 0) return core;
    }
    return before;
}

void Cfs::idle(System& system, CoreId core) {
    pull(system, core, 1);
}

void Cfs::tick(System& system, CoreId core) {
    next_s_.resize(system.cores());
    if (system.now_s() < next_s_[core]) return;
    const bool is_idle = system.runnable(core) == 0;
    next_s_[core] = system.now_s() + (is_idle ? System::kTick_s : System::kBalance_s);
    pull(system, core, system.runnable(core) + 32);
}

void Cfs::pull(System& system, CoreId to, std::size_t most) {
    const std::optional<CoreId> from = busiest_but(system, to);
    if (!from) return;
    double left = imbalance(system, *from, to);
    const std::vector<TaskId> waiting(system.waiting(*from).begin(), system.waiting(*from).end());
    for (const TaskId task : waiting) {
        if (left <= 0 || most == 0) return;
        const double load = system.load(task, to);
        if (load / 2 > left) continue;
        system.move(task, to);
        left -= load;
        --most;
    }
}

}  // namespace tidemill::os
