#include "schedext/cpus.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "schedext/scheduler_error.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/steer/capacity_kinds.hpp"

namespace tidemill::schedext {

namespace {

void check(const steer::Kinds& kinds, const steer::CpuSet& possible) {
    if (kinds.count() > kMaxKinds || possible.back() >= kMaxCpus)
        throw SchedulerError(fmt::format("{} kinds and CPUs up to {}; the scheduler is made for {} and {}",
                                         kinds.count(), possible.back(), +kMaxKinds, kMaxCpus - 1));
}

MachineEntry entry_of(const steer::Kinds& kinds, const steer::CpuSet& possible, const steer::CpuSet& online) {
    MachineEntry entry{};
    entry.cpus = static_cast<__u32>(possible.size());
    entry.kinds = static_cast<__u32>(kinds.count());
    for (const int cpu : possible) entry.kind_of_cpu[cpu] = static_cast<__u8>(kinds.kind_of(cpu).value_or(0));
    for (std::size_t kind = 0; kind < kinds.count(); ++kind)
        if (const auto its = steer::both(kinds.cpus(kind), online); !its.empty())
            entry.first_cpu_of[kind] = static_cast<__u32>(its.front());
    return entry;
}

}  // namespace

std::size_t Cpus::kinds_online() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(kinds.cores(), [](const auto& kind) { return kind.cores > 0; }));
}

std::string Cpus::describe() const {
    std::vector<std::string> in_words;
    for (std::size_t kind = 0; kind < kinds.count(); ++kind)
        in_words.push_back(fmt::format("{} {} from cpu{} on", kinds.cores()[kind].cores, kinds.name(kind),
                                       machine.first_cpu_of[kind]));
    return fmt::format("{}", fmt::join(in_words, ", "));
}

Cpus read_cpus() {
    const std::filesystem::path folder = steer::kCpuFolder;
    const steer::CpuSet possible = steer::read_cpus(folder / "possible");
    const steer::CpuSet online = steer::read_cpus(folder / "online");
    steer::Kinds kinds(steer::kinds_by_capacity(folder));
    check(kinds, possible);
    kinds.set_online(online);
    const MachineEntry machine = entry_of(kinds, possible, online);
    return {std::move(kinds), machine};
}

}  // namespace tidemill::schedext
