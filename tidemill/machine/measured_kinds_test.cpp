#include "tidemill/machine/measured_kinds.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/sample_machines.hpp"

using namespace tidemill;
using tidemill::testing::SampleMachine;

namespace {

constexpr unsigned kSeed = 20261123;

TopologySource source_of(const SampleMachine& machine, std::string kinds = "") {
    return {.machine = TopologySource::Machine::kXmlText,
            .description = hwloc_xml(machine),
            .kinds = std::move(kinds)};
}

/// True speeds of a machine, repeating to so much; in one run of four others take up to half of the core.
MeasureCore truth_of(const SampleMachine& machine, double noise = 0.01, bool disturbed = true) {
    return [=, random = std::mt19937(kSeed)](const Core& core) mutable {
        const testing::SampleKind kind = testing::kind_of(machine, core.number);
        const auto share = [&] {
            std::uniform_real_distribution<double> from(1 - noise, 1);
            std::uniform_real_distribution<double> hard(0.5, 1);
            return from(random) * (disturbed && random() % 4 == 0 ? hard(random) : 1);
        };
        return CoreSpeed{1e9 * kind.compute * share(), 1e7 * kind.memory * share()};
    };
}

MeasuredKinds judged(const SampleMachine& machine, const std::string& kinds = "") {
    const Topology told = Topology::load(source_of(machine, kinds));
    return kinds_by_speed(told, measure_cores(told, truth_of(machine), 9));
}

}  // namespace

TEST_CASE("measured kinds: cores that firmware calls equal are parted, and it is said why") {
    const MeasuredKinds found = judged(testing::equal_capacities());
    CHECK(found.kinds == "big=4-7,little=0-3");
    CHECK(found.overrules);
    REQUIRE(found.because.size() == 1);
    CHECK(found.because[0].starts_with("hwloc calls core0-3 and core4-7 alike, and the first have 0.4"));
}

TEST_CASE("measured kinds: little cores with the higher frequency are not the big ones") {
    const MeasuredKinds found = judged(testing::swapped_frequencies());
    CHECK(found.kinds == "big=0-11,little=12-19");
    CHECK(found.overrules);
    REQUIRE(found.because.size() == 1);
    CHECK(found.because[0].starts_with("hwloc takes core6-13 for faster than core0-5"));
}

TEST_CASE(
    "measured kinds: three kinds that were folded into two are three again, all threads of a core in one") {
    const MeasuredKinds phone = judged(testing::three_capacities(), "big=4-7,little=0-3");
    CHECK(phone.kinds == "big=7,little=4-6,kind3=0-3");
    CHECK(phone.overrules);
    CHECK(phone.because[0].starts_with("the user calls core4-6 and core7 alike"));
    const MeasuredKinds laptop = judged(testing::ultra_9_185h(), "big=0-11,little=12-21");
    CHECK(laptop.kinds == "big=0-11,little=12-19,kind3=20-21");
}

TEST_CASE("measured kinds: what firmware tells rightly is confirmed") {
    for (const SampleMachine& machine : {testing::three_capacities(), testing::rk3588(), testing::m1_ultra(),
                                         testing::ultra_9_185h(), testing::two_plain_cores()}) {
        const MeasuredKinds found = judged(machine);
        CHECK_FALSE(found.overrules);
        CHECK(found.because[0].starts_with("these are the kinds of"));
        const Topology again = Topology::load(source_of(machine, found.kinds));
        const Topology told = Topology::load(source_of(machine));
        REQUIRE(again.kinds.size() == told.kinds.size());
        for (std::size_t kind = 0; kind < told.kinds.size(); ++kind)
            CHECK(again.kinds[kind].cores == told.kinds[kind].cores);
    }
}

TEST_CASE("measured kinds: equal cores that firmware tells apart are one kind") {
    SampleMachine machine = testing::two_plain_cores();
    machine.clusters = {{.cores = 2, .kind = 0}, {.cores = 2, .kind = 1}};
    machine.kinds = {{.max_frequency_mhz = 3000}, {.max_frequency_mhz = 2000}};
    const MeasuredKinds found = judged(machine);
    CHECK(found.kinds == "big=0-3");
    CHECK(found.because ==
          std::vector<std::string>{"hwloc distinguishes core0-3, and they are equally fast"});
}

TEST_CASE("measured kinds: cores that differ at memory alone are two kinds") {
    SampleMachine machine = testing::equal_capacities();
    machine.kinds[0].compute = 1;
    CHECK(judged(machine).kinds == "big=4-7,little=0-3");
}

TEST_CASE("measured kinds: where nothing repeats, nothing is overruled") {
    const SampleMachine machine = testing::equal_capacities();
    const Topology told = Topology::load(source_of(machine));
    const MeasuredKinds found = kinds_by_speed(told, measure_cores(told, truth_of(machine, 0.9), 5));
    CHECK(found.kinds == "big=0-7");
    CHECK_FALSE(found.overrules);
    CHECK(found.because[0].find("try again when the machine is idle") != std::string::npos);
}

TEST_CASE("measured kinds: a gap must be clearly more than what measurements repeat to") {
    const Topology told = Topology::load(source_of(testing::two_plain_cores()));
    const auto kinds_of = [&](double slower, double spread) {
        return kinds_by_speed(told, std::vector{MeasuredCore{{1, 1}, spread}, MeasuredCore{{slower, 1}, 0}})
            .kinds;
    };
    CHECK(kinds_of(0.92, 0.01) == "big=0-1");
    CHECK(kinds_of(0.88, 0.01) == "big=0,little=1");
    CHECK(kinds_of(0.88, 0.05) == "big=0-1");
    CHECK(kinds_of(0.8, 0.05) == "big=0,little=1");
}

TEST_CASE("core speeds: of several runs the best counts, and the third says how well they repeat") {
    const Topology two = Topology::load(source_of(testing::two_plain_cores()));
    std::vector<double> runs{8, 50, 10, 50, 9, 50, 7, 50};
    auto next = runs.begin();
    const auto measured = measure_cores(
        two,
        [&](const Core&) {
            return CoreSpeed{*next++, 2};
        },
        4);
    CHECK(measured[0].best.compute == 10);
    CHECK(measured[0].spread == doctest::Approx(0.2));
    CHECK(measured[1].best.compute == 50);
    CHECK(measured[1].spread == 0);
}

TEST_CASE("core speeds: this machine's cores do something in a second, and none that is not there") {
    const Topology here = Topology::here();
    for (const MeasuredCore& core : measure_cores(here, core_probe(here, 0.001), 3)) {
        CHECK(core.best.memory > 0);
        CHECK(core.best.compute > 0);
    }
    const Core nowhere{.number = 7, .pus = {{7, 1 << 20}}};
    CHECK_THROWS_WITH_AS(core_probe(here, 0.001)(nowhere), doctest::Contains("core7 cannot be measured"),
                         PlatformError);
}
