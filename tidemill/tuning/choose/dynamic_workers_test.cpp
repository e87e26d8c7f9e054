#include "tidemill/tuning/choose/dynamic_workers.hpp"

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/testing/made_up_machine.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

namespace tidemill {
namespace {

Topology machine(const char* kinds) {
    return internal::made_up_machine("core:4 pu:1", kinds);
}

RunConfig emulating(const char* wish, std::optional<Platform> cores = {}) {
    RunConfig how{.executor = ExecutorKind::dynamic, .scheduling = {.cores = cores}};
    auto emulation = std::make_shared<bridge::Emulation>();
    bridge::add_emulated_kind(*emulation, wish);
    how.emulation = emulation;
    return how;
}

}  // namespace

TEST_CASE("dynamic workers: without cores named, half of a machine's are emulated") {
    const Topology four = machine("big=core0-3");
    CHECK(cores_of_workers(emulating("little=2"), four) == Platform{.big = 2, .little = 2});
    const DynamicOptions workers = dynamic_workers(emulating("little=2"), four);
    CHECK(workers.workers == 4);
    CHECK(workers.kinds == std::vector<policy::KindId>{0, 0, 1, 1});
    CHECK(workers.kind_names == std::vector<std::string>{"big", "little"});
    CHECK(workers.cores.empty());
}

TEST_CASE("dynamic workers: of emulated cores there may be more than a machine has, of real ones not") {
    const Topology four = machine("big=core0-3");
    CHECK(dynamic_workers(emulating("little=2", Platform{.big = 4, .little = 8}), four).workers == 12);
    CHECK_THROWS_AS(cores_of_workers(emulating("little=2", Platform{.big = 5, .little = 1}), four),
                    PlatformError);
    CHECK_THROWS_WITH_AS(cores_of_workers(emulating("little=2", Platform{.big = 2}), four),
                         doctest::Contains("add \"little=1\""), RunError);
    CHECK_THROWS_WITH_AS(cores_of_workers(emulating("big=2"), four), doctest::Contains("name the cores"),
                         RunError);
}

TEST_CASE("dynamic workers: on a machine with several kinds each worker stays on its kind") {
    const Topology both = machine("big=core0,little=core1-3");
    const DynamicOptions workers = dynamic_workers({.executor = ExecutorKind::dynamic}, both);
    CHECK(workers.kinds == std::vector<policy::KindId>{0, 1, 1, 1});
    REQUIRE(workers.cores.size() == 4);
    CHECK(workers.cores[0].size() == 1);
    CHECK(workers.cores[3].size() == 3);
    CHECK(dynamic_workers({.executor = ExecutorKind::dynamic, .pinned = false}, both).cores.empty());
}

TEST_CASE("dynamic workers: other executors emulate no kinds of cores") {
    RunConfig how = emulating("little=2");
    how.executor = ExecutorKind::pipeline;
    CHECK_THROWS_WITH_AS(check(how), doctest::Contains("take dynamic"), RunError);
}

}  // namespace tidemill
