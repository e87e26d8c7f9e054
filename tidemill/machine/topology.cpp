#include "tidemill/machine/topology.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/cpu_quota.hpp"
#include "tidemill/machine/internal/core_kinds.hpp"
#include "tidemill/machine/internal/hwloc.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {
namespace {

using internal::FoundKinds;
using internal::HwlocBitmap;
using internal::HwlocTopology;
using Machine = TopologySource::Machine;

bool choose_machine(hwloc_topology_t machine, const TopologySource& source) {
    const char* text = source.description.c_str();
    switch (source.machine) {
        case Machine::kThis:
            return true;
        case Machine::kXmlText:
            return hwloc_topology_set_xmlbuffer(machine, text,
                                                static_cast<int>(source.description.size() + 1)) == 0;
        case Machine::kXmlFile:
            return hwloc_topology_set_xml(machine, text) == 0;
        case Machine::kSynthetic:
            return hwloc_topology_set_synthetic(machine, text) == 0;
    }
    return false;
}

std::string_view machine_word(Machine machine) {
    switch (machine) {
        case Machine::kThis:
            return "this machine";
        case Machine::kXmlText:
            return "an hwloc XML text";
        case Machine::kXmlFile:
            return "the hwloc XML file";
        case Machine::kSynthetic:
            return "the hwloc synthetic description";
    }
    return "an unknown source";
}

HwlocTopology load_machine(const TopologySource& source) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw PlatformError("hwloc cannot start: out of memory?");
    HwlocTopology machine{raw};
    if (!choose_machine(raw, source) || hwloc_topology_load(raw) != 0) {
        const bool has_name = source.machine == Machine::kXmlFile || source.machine == Machine::kSynthetic;
        throw PlatformError(fmt::format("cannot read the topology from {}{}: check it with lstopo",
                                        machine_word(source.machine),
                                        has_name ? " \"" + source.description + "\"" : ""));
    }
    return machine;
}

HwlocBitmap usable_pus(hwloc_topology_t machine, const TopologySource& source) {
    HwlocBitmap usable{hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine))};
    const HwlocBitmap mask{hwloc_bitmap_alloc()};
    if (source.allowed_os_numbers) {
        for (int number : *source.allowed_os_numbers)
            if (number >= 0) hwloc_bitmap_set(mask.get(), static_cast<unsigned>(number));
    } else if (!hwloc_topology_is_thissystem(machine) ||
               hwloc_get_cpubind(machine, mask.get(), HWLOC_CPUBIND_PROCESS) != 0) {
        return usable;
    }
    hwloc_bitmap_and(usable.get(), usable.get(), mask.get());
    return usable;
}

int hidden_count(hwloc_topology_t machine, hwloc_const_bitmap_t usable) {
    return hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(machine)) - hwloc_bitmap_weight(usable);
}

PuSet pus_inside(hwloc_topology_t machine, hwloc_obj_t core, hwloc_const_bitmap_t usable) {
    PuSet pus;
    hwloc_obj_t pu = nullptr;
    while ((pu = hwloc_get_next_obj_inside_cpuset_by_type(machine, core->cpuset, HWLOC_OBJ_PU, pu)) !=
           nullptr)
        if (hwloc_bitmap_isset(usable, pu->os_index))
            pus.push_back({static_cast<int>(pu->logical_index), static_cast<int>(pu->os_index)});
    return pus;
}

int numa_node_of(hwloc_topology_t machine, hwloc_obj_t core) {
    const int os_index = hwloc_bitmap_first(core->nodeset);
    if (os_index < 0) return 0;
    const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(machine, static_cast<unsigned>(os_index));
    return node == nullptr ? 0 : static_cast<int>(node->logical_index);
}

// Some virtual machines and boards report no cores: then each PU counts as one.
hwloc_obj_type_t core_object_type(hwloc_topology_t machine) {
    return hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

std::vector<Core> read_cores(hwloc_topology_t machine, hwloc_const_bitmap_t usable) {
    std::vector<Core> cores;
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(machine, core_object_type(machine), object)) != nullptr) {
        PuSet pus = pus_inside(machine, object, usable);
        if (pus.empty()) continue;
        cores.push_back({.number = static_cast<int>(object->logical_index),
                         .pus = std::move(pus),
                         .numa_node = numa_node_of(machine, object)});
    }
    return cores;
}

std::vector<Core> cores_of_known_kind(const std::vector<Core>& all,
                                      const std::map<int, std::size_t>& kind_of_pu) {
    std::vector<Core> cores;
    for (const Core& core : all) {
        Core kept = core;
        std::erase_if(kept.pus, [&](const Pu& pu) { return !kind_of_pu.contains(pu.os_number); });
        if (kept.pus.empty()) continue;
        kept.kind = kind_of_pu.at(kept.pus.front().os_number);
        for (const Pu& pu : kept.pus)
            if (kind_of_pu.at(pu.os_number) != kept.kind)
                throw PlatformError(
                    fmt::format("core{} ({}) is in two kinds: name all its PUs in the same kind", kept.number,
                                to_string(kept.pus)));
        cores.push_back(std::move(kept));
    }
    return cores;
}

void apply_kinds(Topology& topology, FoundKinds found) {
    const std::size_t pus_before = topology.pus().size();
    std::map<int, std::size_t> kind_of_pu;
    for (std::size_t kind = 0; kind < found.kinds.size(); ++kind)
        for (int os_number : found.kinds[kind].os_numbers) kind_of_pu[os_number] = kind;
    topology.cores = cores_of_known_kind(topology.cores, kind_of_pu);
    topology.unnamed_pus = static_cast<int>(pus_before - topology.pus().size());
    topology.kinds_from = std::move(found.from);
    for (auto& kind : found.kinds) {
        topology.kinds.push_back({
            .name =
                kind.name.empty() ? internal::default_kind_name(topology.kinds.size()) : std::move(kind.name),
            .core_type = std::move(kind.core_type),
            .capacity = kind.capacity,
            .max_frequency_mhz = kind.max_frequency_mhz,
        });
    }
    for (std::size_t core = 0; core < topology.cores.size(); ++core)
        topology.kinds[topology.cores[core].kind].cores.push_back(core);
}

hwloc_obj_t cluster_object(hwloc_topology_t machine, int core_number) {
    const hwloc_obj_type_t type = core_object_type(machine);
    const hwloc_obj_t core = hwloc_get_obj_by_type(machine, type, static_cast<unsigned>(core_number));
    const auto is_shared = [&](hwloc_obj_t object) {
        return object->type != HWLOC_OBJ_L1CACHE && object->type != HWLOC_OBJ_CORE &&
               hwloc_get_nbobjs_inside_cpuset_by_type(machine, object->cpuset, type) > 1;
    };
    hwloc_obj_t object = core;
    while (object->parent != nullptr && !is_shared(object)) object = object->parent;
    return object;
}

void find_clusters(hwloc_topology_t machine, Topology& topology) {
    std::map<std::pair<std::size_t, hwloc_obj_t>, std::size_t> known;
    for (std::size_t index = 0; index < topology.cores.size(); ++index) {
        Core& core = topology.cores[index];
        const auto [entry, is_new] =
            known.try_emplace({core.kind, cluster_object(machine, core.number)}, topology.clusters.size());
        if (is_new) topology.clusters.push_back({.kind = core.kind});
        core.cluster = entry->second;
        topology.clusters[core.cluster].cores.push_back(index);
    }
}

std::vector<std::size_t> cores_inside(const Topology& topology, hwloc_const_bitmap_t cpuset) {
    std::vector<std::size_t> cores;
    for (std::size_t index = 0; index < topology.cores.size(); ++index) {
        const int first_pu = topology.cores[index].pus.front().os_number;
        if (hwloc_bitmap_isset(cpuset, static_cast<unsigned>(first_pu))) cores.push_back(index);
    }
    return cores;
}

void find_caches(hwloc_topology_t machine, Topology& topology) {
    for (int level = 1; level <= 5; ++level) {
        const auto type = static_cast<hwloc_obj_type_t>(HWLOC_OBJ_L1CACHE + level - 1);
        hwloc_obj_t cache = nullptr;
        while ((cache = hwloc_get_next_obj_by_type(machine, type, cache)) != nullptr) {
            auto cores = cores_inside(topology, cache->cpuset);
            if (cores.empty()) continue;
            topology.caches.push_back({level, cache->attr->cache.size, std::move(cores)});
        }
    }
}

std::optional<std::string> sysfs_root_for(hwloc_topology_t machine, const TopologySource& source) {
    if (source.sysfs_root || !hwloc_topology_is_thissystem(machine)) return source.sysfs_root;
    return "/sys";
}

std::optional<std::string> cgroup_root_for(hwloc_topology_t machine, const TopologySource& source) {
    if (source.cgroup_root || !hwloc_topology_is_thissystem(machine)) return source.cgroup_root;
    return "/";
}

}  // namespace

Topology Topology::here(std::string_view kinds) {
    return load({.kinds = std::string(kinds)});
}

Topology Topology::load(const TopologySource& source) {
    const HwlocTopology machine = load_machine(source);
    const HwlocBitmap usable = usable_pus(machine.get(), source);
    Topology topology;
    topology.cores = read_cores(machine.get(), usable.get());
    if (topology.cores.empty())
        throw PlatformError("no usable PU is left: the affinity mask and this topology have none in common");
    topology.hidden_pus = hidden_count(machine.get(), usable.get());
    topology.numa_nodes = std::max(1, hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_NUMANODE));
    apply_kinds(topology, source.kinds.empty()
                              ? internal::discover_kinds(machine.get(), topology.cores,
                                                         sysfs_root_for(machine.get(), source))
                              : internal::kinds_by_hand(topology.cores, source.kinds));
    find_clusters(machine.get(), topology);
    find_caches(machine.get(), topology);
    if (const auto root = cgroup_root_for(machine.get(), source))
        topology.cpu_quota = tidemill::cpu_quota(*root);
    return topology;
}

std::size_t Topology::cores_by_quota() const {
    return cpu_quota ? std::min(cores.size(), whole_cores(*cpu_quota)) : cores.size();
}

PuSet Topology::pus() const {
    PuSet all;
    for (const Core& core : cores) all.insert(all.end(), core.pus.begin(), core.pus.end());
    std::ranges::sort(all);
    return all;
}

std::size_t Topology::kind_index(std::string_view name) const {
    const auto kind = std::ranges::find(kinds, name, &CoreKind::name);
    if (kind != kinds.end()) return static_cast<std::size_t>(kind - kinds.begin());
    std::string names;
    for (const CoreKind& known : kinds) names += (names.empty() ? "" : ", ") + known.name;
    throw PlatformError(fmt::format("there is no core kind \"{}\" here; the kinds are: {}", name, names));
}

}  // namespace tidemill
