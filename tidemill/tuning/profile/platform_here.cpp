#include "tidemill/tuning/profile/platform_here.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

// Cores of the first kinds, which are the fastest, up to so many.
Platform first_cores(const Topology& topology, std::size_t most) {
    Platform platform;
    for (const CoreKind& kind : topology.kinds) {
        const std::size_t cores = std::min(most, kind.cores.size());
        platform.set(kind.name, static_cast<int>(cores));
        most -= cores;
    }
    return platform;
}

}  // namespace

Platform platform_of(const Topology& topology) {
    return first_cores(topology, topology.cores_by_quota());
}

Platform platform_here() {
    return platform_of(Topology::here());
}

Platform cores_here(const std::optional<Platform>& wanted, const Topology& topology) {
    if (!wanted) return platform_of(topology);
    const Platform all = first_cores(topology, topology.cores.size());
    for (const CoreCount& kind : wanted->kinds()) {
        if (kind.count <= all.count(kind.kind)) continue;
        throw PlatformError(fmt::format("cores {}: there are {} cores of kind {} here; this machine has {}",
                                        to_string(*wanted), all.count(kind.kind), kind.kind, to_string(all)));
    }
    return *wanted;
}

}  // namespace tidemill
