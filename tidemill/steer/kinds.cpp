#include "tidemill/steer/kinds.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::steer {

CpuSet CpuKind::cpus() const {
    CpuSet all;
    for (const CpuSet& core : cores) all.insert(all.end(), core.begin(), core.end());
    std::ranges::sort(all);
    return all;
}

Kinds::Kinds(std::vector<CpuKind> kinds) : kinds_(std::move(kinds)) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        names_.push_back(kinds_[kind].name);
        cpus_.push_back(kinds_[kind].cpus());
        cores_.push_back({0, kinds_[kind].usual_factor});
        for (const int cpu : cpus_.back()) {
            const auto at = static_cast<std::size_t>(cpu);
            if (kind_of_.size() <= at) kind_of_.resize(at + 1);
            kind_of_[at] = kind;
        }
    }
}

std::optional<std::size_t> Kinds::kind_of(int cpu) const {
    const auto at = static_cast<std::size_t>(cpu);
    return at < kind_of_.size() ? kind_of_[at] : std::nullopt;
}

std::size_t Kinds::kinds_in(const CpuSet& set) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cpus_, [&](const CpuSet& cpus) { return !both(cpus, set).empty(); }));
}

void Kinds::set_online(const CpuSet& online) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        cores_[kind].cores = static_cast<unsigned>(std::ranges::count_if(
            kinds_[kind].cores, [&](const CpuSet& core) { return !both(core, online).empty(); }));
}

std::vector<CpuKind> kinds_of(const Topology& topology) {
    std::vector<CpuKind> kinds;
    for (const CoreKind& kind : topology.kinds) {
        kinds.push_back({.name = kind.name, .cores = {}});
        for (const std::size_t core : kind.cores) {
            CpuSet cpus;
            for (const Pu& pu : topology.cores[core].pus) cpus.push_back(pu.os_number);
            std::ranges::sort(cpus);
            kinds.back().cores.push_back(cpus);
        }
    }
    for (const auto speed : {&CoreKind::max_frequency_mhz, &CoreKind::capacity}) {
        const auto tells = [&](const CoreKind& kind) { return (kind.*speed).value_or(0) > 0; };
        if (!std::ranges::all_of(topology.kinds, tells)) continue;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
            kinds[kind].usual_factor =
                static_cast<double>(*(topology.kinds[0].*speed)) / *(topology.kinds[kind].*speed);
    }
    return kinds;
}

}  // namespace tidemill::steer
