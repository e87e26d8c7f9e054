#include "tidemill/machine/cpu_quota.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tidemill/machine/describe.hpp"
#include "tidemill/machine/testing/temporary_folder.hpp"
#include "tidemill/machine/topology.hpp"

using namespace tidemill;
using doctest::Approx;
using tidemill::testing::TemporaryFolder;

namespace {

const std::string kV1 =
    "30 20 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "31 20 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
const std::string kV2 = "30 20 0:26 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

}  // namespace

TEST_CASE("a quota of v2 is the least of the group's and of those above it") {
    const TemporaryFolder root;
    root.write("proc/self/mountinfo", kV2);
    root.write("proc/self/cgroup", "0::/outer/inner\n");
    CHECK(!cpu_quota(root.root()));
    root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
    CHECK(!cpu_quota(root.root()));
    root.write("sys/fs/cgroup/outer/cpu.max", "150000 50000");
    CHECK(*cpu_quota(root.root()) == Approx(3));
    root.write("sys/fs/cgroup/outer/inner/cpu.max", "250000 100000");
    CHECK(*cpu_quota(root.root()) == Approx(2.5));
}

TEST_CASE("a container sees its own group as the root, by whatever name") {
    const TemporaryFolder root;
    root.write("proc/self/mountinfo", kV2);
    root.write("sys/fs/cgroup/cpu.max", "200000 100000");
    for (const char* name : {"0::/\n", "0::/docker/0123\n", "0::/../elsewhere\n"}) {
        root.write("proc/self/cgroup", name);
        CHECK(*cpu_quota(root.root()) == Approx(2));
    }
    root.write("proc/self/mountinfo",
               "30 20 0:26 /docker/0123 /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
    root.write("proc/self/cgroup", "0::/docker/0123/part\n");
    root.write("sys/fs/cgroup/part/cpu.max", "50000 100000");
    CHECK(*cpu_quota(root.root()) == Approx(0.5));
}

TEST_CASE("a quota of v1 is that of the hierarchy with the controller cpu") {
    const TemporaryFolder root;
    root.write("proc/self/mountinfo", kV1);
    root.write("proc/self/cgroup", "5:cpuset:/set\n4:cpu,cpuacct:/group\n0::/other\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/group/cpu.cfs_period_us", "100000");
    root.write("sys/fs/cgroup/cpu,cpuacct/group/cpu.cfs_quota_us", "-1");
    CHECK(!cpu_quota(root.root()));
    root.write("sys/fs/cgroup/cpu,cpuacct/group/cpu.cfs_quota_us", "175000");
    CHECK(*cpu_quota(root.root()) == Approx(1.75));
}

TEST_CASE("files that make no sense limit nothing") {
    const TemporaryFolder root;
    CHECK(!cpu_quota(root.root()));
    root.write("proc/self/mountinfo", "1 2\n - \n30 20 0:26 / /sys/fs/cgroup - cgroup2\n" + kV2);
    root.write("proc/self/cgroup", ":\n0:\n\n0::\n");
    for (const char* text : {"", "max", "-5 100000", "0 100000", "nan 3", "ten 10", "max max"}) {
        root.write("sys/fs/cgroup/cpu.max", text);
        CHECK(!cpu_quota(root.root()));
    }
    root.write("sys/fs/cgroup/cpu.max", "200000 0");
    CHECK(*cpu_quota(root.root()) == Approx(2));
}

TEST_CASE("a topology tells the quota, and a part of a core counts as one") {
    const TemporaryFolder root;
    root.write("proc/self/mountinfo", kV2);
    root.write("proc/self/cgroup", "0::/\n");
    root.write("sys/fs/cgroup/cpu.max", "250000 100000");
    const TopologySource four{.machine = TopologySource::Machine::kSynthetic,
                              .description = "core:4 pu:1",
                              .cgroup_root = root.root()};
    const Topology topology = Topology::load(four);
    CHECK(*topology.cpu_quota == Approx(2.5));
    CHECK(topology.cores_by_quota() == 2);
    CHECK(describe(topology).find("2.5 CPUs") != std::string::npos);
    root.write("sys/fs/cgroup/cpu.max", "max 100000");
    CHECK(Topology::load(four).cores_by_quota() == 4);
    CHECK(whole_cores(0.3) == 1);
    CHECK(whole_cores(1e300) > 1000);
}
