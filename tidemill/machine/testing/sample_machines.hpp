#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tidemill::testing {

/// Equal cores side by side, with an L2 cache for all of them or one each.
struct SampleCluster {
    int cores = 1;
    int pus_per_core = 1;
    std::size_t kind = 0;  // index into SampleMachine::kinds
    std::size_t l2_kib = 512;
    bool has_shared_l2 = true;
    bool is_group = false;     // the machine says by itself that these cores belong together
    bool is_behind_l3 = true;  // the first cluster that is not ends the L3
};

/// Firmware's description of a kind, where absent facts are not written, and the truth.
struct SampleKind {
    std::optional<int> efficiency = {};  // higher is faster
    std::string core_type = {};
    std::optional<int> capacity = {};
    std::optional<int> max_frequency_mhz = {};
    double compute = 1;  // how fast its cores are, in any unit
    double memory = 1;
};

/// A machine with at most 32 PUs, numbered in the order of its clusters.
struct SampleMachine {
    std::vector<SampleCluster> clusters;
    std::vector<SampleKind> kinds = {};
    std::size_t l3_kib = 0;  // 0: no L3
};

/// The machine as hwloc's XML.
std::string hwloc_xml(const SampleMachine& machine);

/// Like Apple's M1 Ultra under Linux: per die two little cores, then two clusters of four big ones.
SampleMachine m1_ultra();

/// Like RK3588: four A55, then two clusters of two A76 whose speeds differ slightly.
SampleMachine rk3588();

/// Like Core Ultra 9 185H: six cores with two threads, two clusters of four, two outside the L3.
SampleMachine ultra_9_185h();

/// Like the phone of sched-ext/scx 1991: capacities 160, 498 and 1024, which no two words can say.
SampleMachine three_capacities();

/// Like the laptop of sched-ext/scx 1893: six big cores with two threads and eight little ones, which the
/// firmware calls equal while the little ones have the higher maximum frequency.
SampleMachine swapped_frequencies();

/// Four little and four big cores whose firmware says that all are alike.
SampleMachine equal_capacities();

/// Two equal cores of which the firmware says nothing.
SampleMachine two_plain_cores();

/// The kind of a core, by its number.
SampleKind kind_of(const SampleMachine& machine, int core);

}  // namespace tidemill::testing
