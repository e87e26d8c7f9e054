#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/machine/pu_set.hpp"

namespace tidemill {

/// One core with its usable hardware threads, the first of them first; `number` is hwloc's logical one.
struct Core {
    int number = 0;
    PuSet pus = {};
    std::size_t kind = 0;     // index into Topology::kinds
    std::size_t cluster = 0;  // index into Topology::clusters
    int numa_node = 0;
};

/// Cores that are equally fast; capacity is the kernel's (fastest = 1024), where it is known.
struct CoreKind {
    std::string name = {};
    std::vector<std::size_t> cores = {};  // indices into Topology::cores, ascending
    std::string core_type = {};           // the vendor's word, e.g. "IntelAtom"; may be empty
    std::optional<int> capacity = {};
    std::optional<int> max_frequency_mhz = {};
};

/// Cores of one kind that sit behind the same L2 or L3 cache, die or package: the nearest that is shared.
struct Cluster {
    std::size_t kind = 0;
    std::vector<std::size_t> cores = {};
};

/// A data or unified cache and the cores that share it.
struct Cache {
    int level = 1;
    std::size_t size_bytes = 0;  // 0 where the machine does not report it
    std::vector<std::size_t> cores = {};
};

/// Where the facts about a machine come from; the default is the machine we run on.
struct TopologySource {
    enum class Machine { kThis, kXmlText, kXmlFile, kSynthetic };

    Machine machine = Machine::kThis;
    std::string description = {};  // hwloc's XML, the name of such a file, or hwloc's synthetic form

    /// Kinds by hand, big first, in the spelling of node lists: "big=0-3,little=4-7,10,slow=core9".
    std::string kinds = {};

    /// Where the kernel's files on CPUs and their counters are read: "/sys" here, else nowhere.
    std::optional<std::string> sysfs_root = {};

    /// Where /proc and /sys are with control groups and their quotas: "/" here, else nowhere.
    std::optional<std::string> cgroup_root = {};

    /// The affinity mask as operating-system numbers: the process's own here, everything elsewhere.
    std::optional<std::vector<int>> allowed_os_numbers = {};
};

/// The part of a machine that this process may use: cores, kinds (big first), clusters and caches.
struct Topology {
    std::vector<Core> cores;  // ascending numbers
    std::vector<CoreKind> kinds;
    std::vector<Cluster> clusters;
    std::vector<Cache> caches;  // by level, then by first core
    int numa_nodes = 1;
    int hidden_pus = 0;                    // off line, or kept from us by an affinity mask or a control group
    int unnamed_pus = 0;                   // left out because TopologySource::kinds does not name them
    std::string kinds_from;                // source of the kinds
    std::optional<double> cpu_quota = {};  // CPUs' worth of time that control groups allow, if they limit it

    /// This machine, with kinds by hand if any; throws PlatformError when they do not fit the machine.
    /// What this process may use is what the affinity masks of its threads allow together: ask before
    /// pinning.
    static Topology here(std::string_view kinds = "");

    /// Any source; throws PlatformError when it cannot be read or its kinds do not fit.
    static Topology load(const TopologySource& source);

    /// How many cores can be busy at a time: all, or as many as fit into the quota.
    std::size_t cores_by_quota() const;

    /// All usable PUs, ascending.
    PuSet pus() const;

    /// The kind called `name`; throws PlatformError that lists the kinds there are.
    std::size_t kind_index(std::string_view name) const;
};

}  // namespace tidemill
