#include "tidemill/lab/tasks/worker_kinds.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/per_kind.hpp"

namespace tidemill::cli {

namespace {

policy::KindId kind_of(const std::string& name, const std::vector<std::string>& names,
                       const std::string& option) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<policy::KindId>(found - names.begin());
    throw WrongUsage(fmt::format("{}: '{}' is not a kind of --cores; take one of {}", option, name,
                                 fmt::join(names, ", ")));
}

}  // namespace

WorkerKinds parse_worker_kinds(const std::string& cores, const std::string& speeds) {
    WorkerKinds all;
    for (const auto& [kind, workers] : parse_per_kind(cores, "--cores")) {
        const bool whole = workers >= 1 && workers <= 1024 && workers == std::floor(workers);
        if (!whole) throw WrongUsage("--cores: 1 to 1024 workers of each kind, e.g. big=4,little=4");
        all.kinds.insert(all.kinds.end(), static_cast<std::size_t>(workers),
                         static_cast<policy::KindId>(all.names.size()));
        all.names.push_back(kind);
    }
    all.speeds.assign(all.kinds.size(), 1);
    for (const auto& [name, speed] : parse_per_kind(speeds, "--speeds")) {
        if (!(speed > 0)) throw WrongUsage("--speeds: a speed above 0 for each kind, e.g. little=0.5");
        const policy::KindId kind = kind_of(name, all.names, "--speeds");
        for (std::size_t worker = 0; worker < all.kinds.size(); ++worker) {
            if (all.kinds[worker] == kind) all.speeds[worker] = speed;
        }
    }
    return all;
}

std::vector<policy::KindSet> parse_type_kinds(const std::vector<std::string>& only,
                                              const std::vector<std::string>& types,
                                              const WorkerKinds& workers) {
    std::vector<policy::KindSet> kinds(types.size(), 0);
    for (const std::string& each : only) {
        const std::size_t equals = each.find('=');
        if (equals == std::string::npos) throw WrongUsage(fmt::format("--only: '{}' is not TYPE=KIND", each));
        const std::string type = each.substr(0, equals);
        const policy::KindId kind = kind_of(each.substr(equals + 1), workers.names, "--only");
        if (std::ranges::count(types, type) == 0) {
            throw WrongUsage(fmt::format("--only: the program has no task type '{}'; its task types are {}",
                                         type, fmt::join(types, ", ")));
        }
        for (std::size_t k = 0; k < types.size(); ++k) {
            if (types[k] == type) kinds[k] |= policy::KindSet{1} << kind;
        }
    }
    std::ranges::replace(kinds, policy::KindSet{0}, policy::kAnyKind);
    return kinds;
}

}  // namespace tidemill::cli
