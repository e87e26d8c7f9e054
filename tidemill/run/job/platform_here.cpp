#include "tidemill/run/job/platform_here.hpp"

#include <fmt/format.h>

#include "tidemill/platform/platform_error.hpp"

namespace tidemill {

Platform platform_of(const Topology& topology) {
    Platform platform;
    for (const CoreKind& kind : topology.kinds) platform.set(kind.name, static_cast<int>(kind.cores.size()));
    return platform;
}

Platform platform_here() {
    return platform_of(Topology::here());
}

Platform cores_here(const std::optional<Platform>& wanted, const Topology& topology) {
    const Platform all = platform_of(topology);
    if (!wanted) return all;
    for (const CoreCount& kind : wanted->kinds()) {
        if (kind.count <= all.count(kind.kind)) continue;
        throw PlatformError(fmt::format("cores {}: there are {} cores of kind {} here; this machine has {}",
                                        to_string(*wanted), all.count(kind.kind), kind.kind, to_string(all)));
    }
    return *wanted;
}

}  // namespace tidemill
