#include "tidemill/machine/topology.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/machine/describe.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/sample_machines.hpp"
#include "tidemill/machine/testing/temporary_folder.hpp"

using namespace tidemill;
using tidemill::testing::SampleMachine;
using tidemill::testing::TemporaryFolder;
using Machine = TopologySource::Machine;

namespace {

Topology load(const SampleMachine& machine, TopologySource source = {}) {
    source.machine = Machine::kXmlText;
    source.description = hwloc_xml(machine);
    return Topology::load(source);
}

std::string cores_of_kind(const Topology& topology, std::size_t kind) {
    std::vector<int> numbers;
    for (std::size_t core : topology.kinds.at(kind).cores) numbers.push_back(topology.cores[core].number);
    return internal::number_ranges("", numbers);
}

std::string cores_of_cluster(const Topology& topology, std::size_t cluster) {
    std::vector<int> numbers;
    for (std::size_t core : topology.clusters.at(cluster).cores)
        numbers.push_back(topology.cores[core].number);
    return internal::number_ranges("", numbers);
}

std::size_t caches_shared_by(const Topology& topology, int level, std::size_t cores, std::size_t kib) {
    std::size_t found = 0;
    for (const Cache& cache : topology.caches)
        found += cache.level == level && cache.cores.size() == cores && cache.size_bytes == kib * 1024;
    return found;
}

void write_per_cpu(const TemporaryFolder& sysfs, const std::string& file,
                   const std::vector<std::string>& texts) {
    for (std::size_t cpu = 0; cpu < texts.size(); ++cpu)
        sysfs.write(fmt::format("devices/system/cpu/cpu{}/{}", cpu, file), texts[cpu]);
}

void write_pmu(const TemporaryFolder& sysfs, const std::string& name, const std::string& cpus) {
    sysfs.write("bus/event_source/devices/" + name + "/cpus", cpus);
}

Topology load_four_cores(const TemporaryFolder& sysfs) {
    return Topology::load(
        {.machine = Machine::kSynthetic, .description = "l3:1 core:4 pu:1", .sysfs_root = sysfs.root()});
}

}  // namespace

TEST_CASE("M1 Ultra: sixteen big cores in four clusters come before four little ones in two") {
    const Topology topology = load(testing::m1_ultra());
    REQUIRE(topology.kinds.size() == 2);
    CHECK(topology.kinds_from == "hwloc");
    CHECK(topology.kinds[0].name == "big");
    CHECK(topology.kinds[0].capacity == 1024);
    CHECK(cores_of_kind(topology, 0) == "2-9,12-19");
    CHECK(topology.kinds[1].name == "little");
    CHECK(cores_of_kind(topology, 1) == "0-1,10-11");
    REQUIRE(topology.clusters.size() == 6);
    CHECK(cores_of_cluster(topology, 0) == "0-1");
    CHECK(cores_of_cluster(topology, 1) == "2-5");
    CHECK(cores_of_cluster(topology, 5) == "16-19");
    CHECK(topology.clusters[1].kind == 0);
    CHECK(caches_shared_by(topology, 2, 4, 12288) == 4);
    CHECK(caches_shared_by(topology, 2, 2, 4096) == 2);
    CHECK(topology.hidden_pus == 0);
}

TEST_CASE("RK3588: two A76 speed bins are one kind in two clusters") {
    const Topology topology = load(testing::rk3588());
    REQUIRE(topology.kinds.size() == 2);
    CHECK(cores_of_kind(topology, 0) == "4-7");
    CHECK(cores_of_kind(topology, 1) == "0-3");
    REQUIRE(topology.clusters.size() == 3);
    CHECK(cores_of_cluster(topology, 0) == "0-3");
    CHECK(cores_of_cluster(topology, 1) == "4-5");
    CHECK(cores_of_cluster(topology, 2) == "6-7");
    CHECK(caches_shared_by(topology, 3, 8, 3072) == 1);
    CHECK(caches_shared_by(topology, 2, 1, 512) == 4);
}

TEST_CASE("Ultra 9 185H: three kinds, two threads on each big core, low-power cores outside the L3") {
    const Topology topology = load(testing::ultra_9_185h());
    REQUIRE(topology.kinds.size() == 3);
    CHECK(topology.kinds[0].core_type == "IntelCore");
    CHECK(topology.kinds[0].max_frequency_mhz == 5100);
    CHECK(cores_of_kind(topology, 0) == "0-5");
    CHECK(cores_of_kind(topology, 1) == "6-13");
    CHECK(cores_of_kind(topology, 2) == "14-15");
    CHECK(topology.kinds[2].name == "kind3");
    CHECK(to_string(topology.cores[5].pus) == "PU10-11");
    CHECK(to_string(topology.cores[6].pus) == "PU12");
    REQUIRE(topology.clusters.size() == 4);
    CHECK(cores_of_cluster(topology, 0) == "0-5");
    CHECK(cores_of_cluster(topology, 2) == "10-13");
    CHECK(cores_of_cluster(topology, 3) == "14-15");
    CHECK(caches_shared_by(topology, 3, 14, 24576) == 1);
}

TEST_CASE("a machine that tells nothing has one kind called big") {
    const Topology topology = load(testing::two_plain_cores());
    REQUIRE(topology.kinds.size() == 1);
    CHECK(topology.kinds[0].name == "big");
    CHECK_FALSE(topology.kinds[0].capacity.has_value());
    CHECK(cores_of_kind(topology, 0) == "0-1");
    CHECK(topology.clusters.size() == 1);
    CHECK(topology.numa_nodes == 1);
}

TEST_CASE("this machine: every usable PU is in exactly one core, kind and cluster") {
    const Topology topology = Topology::here();
    std::size_t in_kinds = 0;
    std::size_t in_clusters = 0;
    for (const CoreKind& kind : topology.kinds) in_kinds += kind.cores.size();
    for (const Cluster& cluster : topology.clusters) in_clusters += cluster.cores.size();
    CHECK(topology.cores.size() >= 1);
    CHECK(in_kinds == topology.cores.size());
    CHECK(in_clusters == topology.cores.size());
    CHECK(topology.pus().size() >= topology.cores.size());
}

TEST_CASE("PUs outside the affinity mask are hidden and counted, and numbers do not shift") {
    const Topology topology =
        load(testing::ultra_9_185h(), {.allowed_os_numbers = std::vector{1, 2, 3, 12, 20, 21}});
    CHECK(topology.hidden_pus == 16);
    CHECK(to_string(topology.pus()) == "PU1-3,12,20-21");
    CHECK(to_string(topology.cores[0].pus) == "PU1");
    CHECK(cores_of_kind(topology, 0) == "0-1");
    CHECK(cores_of_kind(topology, 2) == "14-15");
    CHECK_THROWS_AS(load(testing::two_plain_cores(), {.allowed_os_numbers = std::vector{7}}), PlatformError);
}

TEST_CASE("a kind whose cores are all hidden is not there") {
    const Topology topology = load(testing::rk3588(), {.allowed_os_numbers = std::vector{0, 1}});
    REQUIRE(topology.kinds.size() == 1);
    CHECK(cores_of_kind(topology, 0) == "0-1");
    CHECK(topology.kinds[0].capacity == 414);
}

TEST_CASE("kinds by hand override the machine's, in the order and with the names given") {
    const Topology topology = load(testing::rk3588(), {.kinds = "fast=6-7,slow=core0-1,3"});
    CHECK(topology.kinds_from == "the user");
    REQUIRE(topology.kinds.size() == 2);
    CHECK(topology.kinds[1].name == "slow");
    CHECK(cores_of_kind(topology, 0) == "6-7");
    CHECK(cores_of_kind(topology, 1) == "0-1,3");
    CHECK(topology.unnamed_pus == 3);
    CHECK(topology.kind_index("slow") == 1);
    CHECK_THROWS_WITH_AS(topology.kind_index("big"),
                         "there is no core kind \"big\" here; the kinds are: fast, slow", PlatformError);
}

TEST_CASE("faulty kinds by hand are refused by name") {
    const auto refused = [](const std::string& kinds) {
        CHECK_THROWS_AS(load(testing::ultra_9_185h(), {.kinds = kinds}), PlatformError);
    };
    refused("0-3");
    refused("=0-3");
    refused("big=");
    refused("big=0-3,");
    refused("big=0,big=2");
    refused("big=0-3,little=3");
    refused("big=0-3,little=99");
    refused("big=0,little=1");  // two threads of one core
}

TEST_CASE("kinds without a rank are ordered by frequency, and by nothing they are one kind") {
    SampleMachine machine = testing::ultra_9_185h();
    machine.kinds = {{.max_frequency_mhz = 1000}, {.max_frequency_mhz = 3000}, {.max_frequency_mhz = 2000}};
    CHECK(cores_of_kind(load(machine), 0) == "6-13");
    machine.kinds = {{.core_type = "A"}, {.core_type = "B"}, {.core_type = "C"}};
    CHECK(load(machine).kinds.size() == 1);
    CHECK(load(machine).kinds_from == "nothing (all cores are taken as equal)");
}

TEST_CASE("the kernel's capacities tell kinds apart where hwloc does not") {
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "cpu_capacity", {"446", "446", "1024", "1010"});
    const Topology topology = load_four_cores(sysfs);
    REQUIRE(topology.kinds.size() == 2);
    CHECK(topology.kinds_from == "the kernel's cpu_capacity");
    CHECK(cores_of_kind(topology, 0) == "2-3");
    CHECK(topology.kinds[1].capacity == 446);
}

TEST_CASE("equal capacities leave the word to maximum frequencies") {
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "cpu_capacity", {"1024", "1024", "1024", "1024"});
    CHECK(load_four_cores(sysfs).kinds.size() == 1);
    CHECK(load_four_cores(sysfs).kinds[0].capacity == 1024);
    write_per_cpu(sysfs, "cpufreq/cpuinfo_max_freq", {"4800000", "2500000", "5000000", "3800000"});
    const Topology topology = load_four_cores(sysfs);
    REQUIRE(topology.kinds.size() == 3);
    CHECK(topology.kinds_from == "maximum frequencies");
    CHECK(cores_of_kind(topology, 0) == "0,2");
    CHECK(topology.kinds[0].max_frequency_mhz == 5000);
    CHECK(cores_of_kind(topology, 2) == "1");
}

TEST_CASE("capacities that are missing for a core, zero or not numbers are not believed") {
    for (const char* bad : {"", "0", "-5", "fast", "99999999999999999999", "12x"}) {
        CAPTURE(bad);
        const TemporaryFolder sysfs;
        write_per_cpu(sysfs, "cpu_capacity", {"446", "1024", "1024", bad});
        CHECK(load_four_cores(sysfs).kinds.size() == 1);
    }
}

TEST_CASE("a source that gives the threads of one core different speeds is not believed") {
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "cpu_capacity", {"1024", "446", "1024", "446"});
    write_per_cpu(sysfs, "cpufreq/cpuinfo_max_freq", {"3000000", "3000000", "2000000", "2000000"});
    const Topology topology = Topology::load(
        {.machine = Machine::kSynthetic, .description = "core:2 pu:2", .sysfs_root = sysfs.root()});
    CHECK(topology.kinds_from == "maximum frequencies");
    CHECK(cores_of_kind(topology, 0) == "0");
}

TEST_CASE("three capacities are three kinds, the fastest first, and four are four") {
    const Topology topology = load(testing::three_capacities());
    REQUIRE(topology.kinds.size() == 3);
    CHECK(cores_of_kind(topology, 0) == "7");
    CHECK(cores_of_kind(topology, 1) == "4-6");
    CHECK(cores_of_kind(topology, 2) == "0-3");
    CHECK(topology.kinds[2].capacity == 160);
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "cpu_capacity", {"160", "498", "1024", "760"});
    REQUIRE(load_four_cores(sysfs).kinds.size() == 4);
    CHECK(load_four_cores(sysfs).kinds[3].name == "kind4");
    CHECK(cores_of_kind(load_four_cores(sysfs), 1) == "3");
}

TEST_CASE("the vendor's word for a core type is believed before its maximum frequency") {
    SampleMachine machine = testing::swapped_frequencies();
    CHECK(cores_of_kind(load(machine), 0) == "6-13");  // frequencies alone: wrong
    machine.kinds[0].core_type = "IntelCore";
    machine.kinds[1].core_type = "IntelAtom";
    CHECK(cores_of_kind(load(machine), 0) == "0-5");
    machine.kinds[0].core_type = "AMDPerformance";
    machine.kinds[1].core_type = "AMDEfficiency";
    CHECK(cores_of_kind(load(machine), 0) == "0-5");
}

TEST_CASE("which counters belong to which cores tells their types where frequencies are swapped") {
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "cpu_capacity", {"1024", "1024", "1024", "1024"});
    write_per_cpu(sysfs, "cpufreq/cpuinfo_max_freq", {"2600000", "2600000", "3600000", "2000000"});
    CHECK(cores_of_kind(load_four_cores(sysfs), 0) == "2");
    write_pmu(sysfs, "cpu_core", "0-1");
    write_pmu(sysfs, "cpu_atom", "2-3");
    const Topology atoms = load_four_cores(sysfs);
    CHECK(atoms.kinds_from == "which counters belong to which cores");
    REQUIRE(atoms.kinds.size() == 3);  // the slow one of the atoms is a low-power core
    CHECK(cores_of_kind(atoms, 0) == "0-1");
    CHECK(cores_of_kind(atoms, 1) == "2");
    CHECK(atoms.kinds[1].core_type == "IntelAtom");
    write_pmu(sysfs, "cpu_atom", "2");
    write_pmu(sysfs, "cpu_lowpower", "3");
    CHECK(load_four_cores(sysfs).kinds[2].core_type == "IntelLowPower");
}

TEST_CASE("Arm's counters tell designs apart, and frequencies which is the faster one, or nobody does") {
    const TemporaryFolder sysfs;
    write_pmu(sysfs, "armv8_cortex_a55", "0-1");
    write_pmu(sysfs, "armv8_cortex_a76", "2-3");
    CHECK(load_four_cores(sysfs).kinds_from ==
          "nothing (all cores are taken as equal), though their counters are those of armv8_cortex_a55 and "
          "armv8_cortex_a76: calibrate --kinds measures which is faster");
    write_per_cpu(sysfs, "cpufreq/cpuinfo_max_freq", {"1800000", "1800000", "1850000", "1850000"});
    CHECK(load_four_cores(sysfs).kinds.size() == 1);
    write_per_cpu(sysfs, "cpufreq/cpuinfo_max_freq", {"1800000", "1800000", "2256000", "2400000"});
    const Topology topology = load_four_cores(sysfs);
    REQUIRE(topology.kinds.size() == 2);
    CHECK(cores_of_kind(topology, 0) == "2-3");
    CHECK(topology.kinds[0].core_type == "armv8_cortex_a76");
    write_pmu(sysfs, "armv8_cortex_a76", "two");
    CHECK(load_four_cores(sysfs).kinds_from == "maximum frequencies");
}

TEST_CASE("ACPI's highest performance tells kinds apart, but not the ranks of one design's cores") {
    const TemporaryFolder sysfs;
    write_per_cpu(sysfs, "acpi_cppc/highest_perf", {"42", "66", "64", "42"});
    const Topology hybrid = load_four_cores(sysfs);
    CHECK(hybrid.kinds_from == "ACPI's highest performance");
    CHECK(cores_of_kind(hybrid, 0) == "1-2");
    CHECK(hybrid.kinds[1].capacity == 651);
    write_per_cpu(sysfs, "acpi_cppc/highest_perf", {"236", "226", "214", "201"});
    CHECK(load_four_cores(sysfs).kinds.size() == 1);
    write_per_cpu(sysfs, "acpi_cppc/highest_perf", {"0", "66", "64", "42"});
    CHECK(load_four_cores(sysfs).kinds_from == "nothing (all cores are taken as equal)");
    write_per_cpu(sysfs, "cpufreq/amd_pstate_highest_perf", {"130", "196", "196", "130"});
    CHECK(cores_of_kind(load_four_cores(sysfs), 1) == "0,3");
}

TEST_CASE("a topology that cannot be read names its source") {
    const auto refused = [](Machine machine, const std::string& description) {
        CHECK_THROWS_AS(Topology::load({.machine = machine, .description = description}), PlatformError);
    };
    refused(Machine::kXmlText, "");
    refused(Machine::kXmlText, "no xml");
    refused(Machine::kXmlText, "<topology version=\"2.0\"><object type=\"Machine\"");
    refused(Machine::kXmlFile, "/nonexistent/machine.xml");
    refused(Machine::kSynthetic, "core:none");
}

TEST_CASE("a machine that tells no cores counts each PU as one") {
    const Topology topology = Topology::load({.machine = Machine::kSynthetic, .description = "pack:1 pu:3"});
    CHECK(topology.cores.size() == 3);
    CHECK(to_string(topology.cores[2].pus) == "PU2");
    CHECK(topology.clusters.size() == 1);
}

TEST_CASE("NUMA nodes are counted and each core knows its own") {
    const Topology topology =
        Topology::load({.machine = Machine::kSynthetic, .description = "pack:2 [numa] l3:1 core:2 pu:2"});
    CHECK(topology.numa_nodes == 2);
    CHECK(topology.cores[1].numa_node == 0);
    CHECK(topology.cores[2].numa_node == 1);
    CHECK(topology.clusters.size() == 2);
}

TEST_CASE("the description is a table that a person can read") {
    const std::string expected = R"(16 cores, 21 PUs, 3 kinds, 1 NUMA node
core kinds from: hwloc

  kind    cores  PUs  capacity  max MHz  type
  big         6   11         -     5100  IntelCore
  little      8    8         -     3800  IntelAtom
  kind3       2    2         -     2500  IntelAtom

  cluster  kind    cores      PUs
        0  big     core0-5    PU0-10
        1  little  core6-9    PU12-15
        2  little  core10-13  PU16-19
        3  kind3   core14-15  PU20-21

  cache    size  number  shared by  cores
  L1     32 KiB      16  1 core     core0-15
  L2      2 MiB       6  1 core     core0-5
  L2      2 MiB       1  2 cores    core14-15
  L2      2 MiB       2  4 cores    core6-13
  L3     24 MiB       1  14 cores   core0-13

1 PU more cannot be used: off line, or outside the affinity mask or control group
)";
    std::vector<int> allowed;
    for (int pu = 0; pu < 22; ++pu)
        if (pu != 11) allowed.push_back(pu);
    CHECK(describe(load(testing::ultra_9_185h(), {.allowed_os_numbers = allowed})) == expected);
}
