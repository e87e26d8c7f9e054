#include "tidemill/steer/capacity_kinds.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "tidemill/steer/steer_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::steer {
namespace {

/// CPUs 0, 1 and so on; of capacity 0 are those for which the kernel has none.
void put_capacities(const ScratchFolder& folder, const std::vector<int>& capacities) {
    folder.put("possible", "0-" + std::to_string(capacities.size() - 1) + "\n");
    for (std::size_t cpu = 0; cpu < capacities.size(); ++cpu) {
        const std::string name = "cpu" + std::to_string(cpu);
        std::filesystem::create_directory(folder / name);
        if (capacities[cpu] > 0) folder.put(name + "/cpu_capacity", std::to_string(capacities[cpu]) + "\n");
    }
}

}  // namespace

TEST_CASE("Three capacities are three kinds, the largest first") {
    const ScratchFolder folder;
    put_capacities(folder, {160, 160, 498, 1024});
    const std::vector<CpuKind> kinds = kinds_by_capacity(folder / ".");
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].name == "big");
    CHECK(kinds[0].cpus() == CpuSet{3});
    CHECK(kinds[1].name == "little");
    CHECK(kinds[1].cpus() == CpuSet{2});
    CHECK(kinds[2].name == "kind3");
    CHECK(kinds[2].cpus() == CpuSet{0, 1});
    CHECK(kinds[2].usual_factor == doctest::Approx(6.4));
}

TEST_CASE("Capacities that differ by less than a tenth are of one kind") {
    const ScratchFolder folder;
    put_capacities(folder, {1024, 980, 930, 446});
    const std::vector<CpuKind> kinds = kinds_by_capacity(folder / ".");
    REQUIRE(kinds.size() == 2);
    CHECK(kinds[0].cpus() == CpuSet{0, 1, 2});
}

TEST_CASE("A CPU of which the kernel tells no capacity is of no kind") {
    const ScratchFolder folder;
    put_capacities(folder, {0, 1024, 446});
    const std::vector<CpuKind> kinds = kinds_by_capacity(folder / ".");
    REQUIRE(kinds.size() == 2);
    CHECK(kinds[0].cpus() == CpuSet{1});
    put_capacities(folder, {0, 0});
    std::filesystem::remove(folder / "cpu1/cpu_capacity");
    CHECK(kinds_by_capacity(folder / ".").empty());
}

TEST_CASE("What is no list of CPUs is refused") {
    const ScratchFolder folder;
    CHECK_THROWS_AS(kinds_by_capacity(folder / "."), SteerError);
    folder.put("possible", "0-x\n");
    CHECK_THROWS_AS(kinds_by_capacity(folder / "."), SteerError);
}

}  // namespace tidemill::steer
