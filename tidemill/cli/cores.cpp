#include "tidemill/cli/cores.hpp"

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"

namespace tidemill::cli {

Platform platform_of(const Topology& topology) {
    Platform platform;
    for (const CoreKind& kind : topology.kinds) platform.set(kind.name, static_cast<int>(kind.cores.size()));
    return platform;
}

Platform chosen_platform(const std::string& cores, const Topology& topology) {
    const Platform all = platform_of(topology);
    if (cores.empty()) return all;
    const Platform chosen = usage_of("--cores", [&] { return parse_platform(cores); });
    for (const CoreCount& kind : chosen.kinds()) {
        if (kind.count <= all.count(kind.kind)) continue;
        throw WrongUsage(fmt::format("--cores {}: there are {} cores of kind {} here; this machine has {}",
                                     cores, all.count(kind.kind), kind.kind, to_string(all)));
    }
    return chosen;
}

}  // namespace tidemill::cli
