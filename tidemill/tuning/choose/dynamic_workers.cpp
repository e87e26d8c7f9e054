#include "tidemill/tuning/choose/dynamic_workers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"

namespace tidemill {

namespace {

bool is_emulated(const RunConfig& how, const std::string& kind) {
    return how.emulation && how.emulation->kinds.contains(kind);
}

// Half of the machine's cores, and at least one of each kind.
Platform halved(const RunConfig& how, const Topology& topology) {
    const std::string& real = topology.kinds.front().name;
    const auto cores = static_cast<int>(topology.cores.size());
    if (how.emulation->kinds.size() != 1 || is_emulated(how, real)) {
        throw RunError(fmt::format(
            "emulated kinds beside {}: name the cores of each kind, for instance \"{}=1,...\"", real, real));
    }
    Platform platform;
    platform.set(real, std::max(1, cores - cores / 2));
    platform.set(how.emulation->kinds.begin()->first, std::max(1, cores / 2));
    return platform;
}

Platform real_part(const RunConfig& how) {
    Platform real;
    for (const CoreCount& kind : how.scheduling.cores->kinds())
        if (!is_emulated(how, kind.kind)) real.set(kind.kind, kind.count);
    return real;
}

// Workers that emulate another kind run on the first one.
PuSet pus_of(const std::string& kind, const RunConfig& how, const Topology& topology) {
    const CoreKind& real =
        is_emulated(how, kind) ? topology.kinds.front() : topology.kinds[topology.kind_index(kind)];
    PuSet pus;
    for (const std::size_t core : real.cores) {
        const PuSet& own = topology.cores[core].pus;
        pus.insert(pus.end(), own.begin(), own.end());
    }
    return pus;
}

}  // namespace

Platform cores_of_workers(const RunConfig& how, const Topology& topology) {
    if (!how.emulation) return cores_here(how.scheduling.cores, topology);
    if (!how.scheduling.cores) return halved(how, topology);
    for (const auto& [name, kind] : how.emulation->kinds) {
        if (how.scheduling.cores->count(name) == 0)
            throw RunError(fmt::format("kind {} is emulated, but cores {} has none of it: add \"{}=1\"", name,
                                       to_string(*how.scheduling.cores), name));
    }
    static_cast<void>(cores_here(real_part(how), topology));
    return *how.scheduling.cores;
}

DynamicOptions dynamic_workers(const RunConfig& how, const Topology& topology) {
    DynamicOptions options{.workers = 0,
                           .policy = how.policy,
                           .window = how.window,
                           .places = how.places,
                           .emulation = how.emulation};
    if (how.waiting) options.waiting = *how.waiting;
    const bool pins = how.pinned && topology.kinds.size() > 1;
    for (const CoreCount& kind : cores_of_workers(how, topology).kinds()) {
        if (kind.count == 0) continue;
        const auto count = static_cast<std::size_t>(kind.count);
        options.kinds.insert(options.kinds.end(), count,
                             static_cast<policy::KindId>(options.kind_names.size()));
        options.kind_names.push_back(kind.kind);
        if (pins) options.cores.insert(options.cores.end(), count, pus_of(kind.kind, how, topology));
        options.workers += count;
    }
    return options;
}

}  // namespace tidemill
