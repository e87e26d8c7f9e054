#include "tidemill/machine/testing/sample_machines.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace tidemill::testing {
namespace {

std::uint64_t mask(int first_pu, int pus) {
    return ((std::uint64_t{1} << pus) - 1) << first_pu;
}

int pus_of(const SampleCluster& cluster) {
    return cluster.cores * cluster.pus_per_core;
}

class XmlWriter {
  public:
    explicit XmlWriter(const SampleMachine& machine) : machine_(machine) {
        for (const SampleCluster& cluster : machine.clusters) total_pus_ += pus_of(cluster);
    }

    std::string write() {
        text_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<topology version=\"2.0\">\n";
        const std::string all = fmt::format("{:#010x}", mask(0, total_pus_));
        open("Machine", 0, total_pus_,
             fmt::format(R"(os_index="0" allowed_cpuset="{}" allowed_nodeset="0x00000001")", all));
        open("NUMANode", 0, total_pus_, R"(os_index="0" local_memory="1073741824")");
        close();
        write_clusters();
        close();
        write_kinds();
        return text_ + "</topology>\n";
    }

  private:
    void open(std::string_view type, int first_pu, int pus, std::string_view more) {
        text_ += fmt::format(R"(<object type="{0}" cpuset="{1:#010x}" complete_cpuset="{1:#010x}" )"
                             R"(nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="{2}" {3}>)"
                             "\n",
                             type, mask(first_pu, pus), ++gp_index_, more);
    }
    void close() { text_ += "</object>\n"; }

    void open_cache(int level, int first_pu, int pus, std::size_t kib) {
        open(fmt::format("L{}Cache", level), first_pu, pus,
             fmt::format(R"(cache_size="{}" depth="{}" cache_linesize="64" cache_associativity="8" )"
                         R"(cache_type="0")",
                         kib * 1024, level));
    }

    void write_clusters() {
        int pus_behind_l3 = 0;
        for (const SampleCluster& cluster : machine_.clusters)
            if (cluster.is_behind_l3) pus_behind_l3 += pus_of(cluster);
        if (machine_.l3_kib > 0) open_cache(3, 0, pus_behind_l3, machine_.l3_kib);
        bool l3_is_open = machine_.l3_kib > 0;
        for (const SampleCluster& cluster : machine_.clusters) {
            if (l3_is_open && !cluster.is_behind_l3) {
                close();
                l3_is_open = false;
            }
            write_cluster(cluster);
        }
        if (l3_is_open) close();
    }

    void write_cluster(const SampleCluster& cluster) {
        if (cluster.is_group) open("Group", next_pu_, pus_of(cluster), R"(kind="1001" subkind="0")");
        if (cluster.has_shared_l2) open_cache(2, next_pu_, pus_of(cluster), cluster.l2_kib);
        for (int core = 0; core < cluster.cores; ++core) write_core(cluster);
        if (cluster.has_shared_l2) close();
        if (cluster.is_group) close();
    }

    void write_core(const SampleCluster& cluster) {
        if (!cluster.has_shared_l2) open_cache(2, next_pu_, cluster.pus_per_core, cluster.l2_kib);
        open_cache(1, next_pu_, cluster.pus_per_core, 32);
        open("Core", next_pu_, cluster.pus_per_core, fmt::format(R"(os_index="{}")", next_core_++));
        for (int pu = 0; pu < cluster.pus_per_core; ++pu, ++next_pu_) {
            open("PU", next_pu_, 1, fmt::format(R"(os_index="{}")", next_pu_));
            close();
        }
        close();
        close();
        if (!cluster.has_shared_l2) close();
    }

    std::uint64_t mask_of_kind(std::size_t kind) const {
        std::uint64_t members = 0;
        int first_pu = 0;
        for (const SampleCluster& cluster : machine_.clusters) {
            if (cluster.kind == kind) members |= mask(first_pu, pus_of(cluster));
            first_pu += pus_of(cluster);
        }
        return members;
    }

    void write_info(std::string_view name, const std::string& value) {
        text_ += fmt::format(R"(<info name="{}" value="{}"/>)", name, value);
    }

    void write_kinds() {
        for (std::size_t index = 0; index < machine_.kinds.size(); ++index) {
            const SampleKind& kind = machine_.kinds[index];
            text_ += fmt::format(R"(<cpukind cpuset="{:#010x}")", mask_of_kind(index));
            if (kind.efficiency) text_ += fmt::format(R"( forced_efficiency="{}")", *kind.efficiency);
            text_ += ">";
            if (!kind.core_type.empty()) write_info("CoreType", kind.core_type);
            if (kind.capacity) write_info("LinuxCapacity", std::to_string(*kind.capacity));
            if (kind.max_frequency_mhz)
                write_info("FrequencyMaxMHz", std::to_string(*kind.max_frequency_mhz));
            text_ += "</cpukind>\n";
        }
    }

    const SampleMachine& machine_;
    std::string text_;
    int total_pus_ = 0;
    int next_pu_ = 0;
    int next_core_ = 0;
    int gp_index_ = 0;
};

}  // namespace

std::string hwloc_xml(const SampleMachine& machine) {
    return XmlWriter(machine).write();
}

SampleMachine m1_ultra() {
    const SampleCluster little{.cores = 2, .kind = 0, .l2_kib = 4096};
    const SampleCluster big{.cores = 4, .kind = 1, .l2_kib = 12288};
    return {.clusters = {little, big, big, little, big, big},
            .kinds = {{.efficiency = 0, .capacity = 459, .compute = 0.4, .memory = 0.6},
                      {.efficiency = 1, .capacity = 1024}}};
}

SampleMachine rk3588() {
    const SampleCluster a55{.cores = 4, .kind = 0, .l2_kib = 128, .has_shared_l2 = false, .is_group = true};
    const SampleCluster a76{.cores = 2, .kind = 1, .l2_kib = 512, .has_shared_l2 = false, .is_group = true};
    SampleCluster a76_fast = a76;
    a76_fast.kind = 2;
    return {.clusters = {a55, a76, a76_fast},
            .kinds = {{.efficiency = 0, .capacity = 414, .compute = 0.35, .memory = 0.6},
                      {.efficiency = 1, .capacity = 1004, .compute = 0.97},
                      {.efficiency = 2, .capacity = 1024}},
            .l3_kib = 3072};
}

SampleMachine ultra_9_185h() {
    return {.clusters = {{.cores = 6, .pus_per_core = 2, .kind = 0, .l2_kib = 2048, .has_shared_l2 = false},
                         {.cores = 4, .kind = 1, .l2_kib = 2048},
                         {.cores = 4, .kind = 1, .l2_kib = 2048},
                         {.cores = 2, .kind = 2, .l2_kib = 2048, .is_behind_l3 = false}},
            .kinds = {{.core_type = "IntelCore", .max_frequency_mhz = 5100},
                      {.core_type = "IntelAtom", .max_frequency_mhz = 3800, .compute = 0.65, .memory = 0.9},
                      {.core_type = "IntelAtom", .max_frequency_mhz = 2500, .compute = 0.4, .memory = 0.5}},
            .l3_kib = 24576};
}

SampleMachine three_capacities() {
    return {.clusters = {{.cores = 4, .kind = 0}, {.cores = 3, .kind = 1}, {.cores = 1, .kind = 2}},
            .kinds = {{.capacity = 160, .compute = 0.2, .memory = 0.5},
                      {.capacity = 498, .compute = 0.55, .memory = 0.8},
                      {.capacity = 1024}},
            .l3_kib = 8192};
}

SampleMachine swapped_frequencies() {
    return {
        .clusters = {{.cores = 6, .pus_per_core = 2, .kind = 0, .l2_kib = 2048, .has_shared_l2 = false},
                     {.cores = 4, .kind = 1, .l2_kib = 4096},
                     {.cores = 4, .kind = 1, .l2_kib = 4096}},
        .kinds = {{.max_frequency_mhz = 2600}, {.max_frequency_mhz = 3600, .compute = 0.6, .memory = 0.8}},
        .l3_kib = 24576};
}

SampleMachine equal_capacities() {
    return {.clusters = {{.cores = 4, .kind = 0}, {.cores = 4, .kind = 1}},
            .kinds = {{.capacity = 1024, .compute = 0.4, .memory = 0.7}, {.capacity = 1024}},
            .l3_kib = 4096};
}

SampleKind kind_of(const SampleMachine& machine, int core) {
    std::size_t cluster = 0;
    for (; core >= machine.clusters[cluster].cores; ++cluster) core -= machine.clusters[cluster].cores;
    return machine.kinds.empty() ? SampleKind{} : machine.kinds[machine.clusters[cluster].kind];
}

SampleMachine two_plain_cores() {
    return {.clusters = {{.cores = 2, .l2_kib = 2048, .has_shared_l2 = false}}, .l3_kib = 32768};
}

}  // namespace tidemill::testing
