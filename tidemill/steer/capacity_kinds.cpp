#include "tidemill/steer/capacity_kinds.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

using std::filesystem::path;

int capacity_of(const path& folder, int cpu) {
    int capacity = 0;
    std::ifstream(folder / fmt::format("cpu{}", cpu) / "cpu_capacity") >> capacity;
    return capacity;
}

// Cores of one design are sold in speed bins.
bool is_same_design(int capacity, int largest) {
    return 10LL * capacity > 9LL * largest;
}

std::string name_of(std::size_t kind) {
    return kind == 0 ? "big" : kind == 1 ? "little" : fmt::format("kind{}", kind + 1);
}

}  // namespace

CpuSet read_cpus(const path& file) {
    std::string list;
    std::ifstream in(file);
    const auto cpus = in >> list ? parse_cpu_set(list) : std::nullopt;
    if (!cpus)
        throw SteerError(
            fmt::format("{}: holds no list of CPUs; is the system's folder there?", file.string()));
    return *cpus;
}

std::vector<CpuKind> kinds_by_capacity(const path& folder) {
    std::map<int, CpuSet, std::greater<>> members;
    for (const int cpu : read_cpus(folder / "possible"))
        if (const int capacity = capacity_of(folder, cpu); capacity > 0) members[capacity].push_back(cpu);
    std::vector<CpuKind> kinds;
    int largest = 0;  // of the last kind
    for (const auto& [capacity, cpus] : members) {
        if (kinds.empty() || !is_same_design(capacity, largest)) {
            largest = capacity;
            kinds.push_back({.name = name_of(kinds.size()),
                             .cores = {},
                             .usual_factor = static_cast<double>(members.begin()->first) / capacity});
        }
        for (const int cpu : cpus) kinds.back().cores.push_back({cpu});
    }
    return kinds;
}

}  // namespace tidemill::steer
