#include "tidemill/machine/pinning.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/sample_machines.hpp"

using namespace tidemill;

namespace {

Topology load(const testing::SampleMachine& machine) {
    return Topology::load({.machine = TopologySource::Machine::kXmlText, .description = hwloc_xml(machine)});
}

const Topology& m1_ultra() {
    static const Topology loaded = load(testing::m1_ultra());
    return loaded;
}

const Topology& laptop() {
    static const Topology loaded = load(testing::ultra_9_185h());
    return loaded;
}

// "0,1|4": the PUs of each thread, stages parted by bars.
std::string placed(const Topology& topology, const std::vector<StagePlacement>& stages) {
    std::string text;
    for (const auto& stage : place_threads(topology, stages)) {
        if (!text.empty()) text += " | ";
        for (std::size_t thread = 0; thread < stage.size(); ++thread)
            text += fmt::format("{}{}", thread == 0 ? "" : " ", to_string(stage[thread]));
    }
    return text;
}

const Topology& any_machine() {
    static const std::vector<Topology> machines{load(testing::m1_ultra()), load(testing::rk3588()),
                                                load(testing::ultra_9_185h()),
                                                load(testing::two_plain_cores())};
    return machines[*rc::gen::inRange<std::size_t>(0, machines.size())];
}

std::size_t places_of(const Topology& topology, std::size_t kind, std::size_t smt) {
    std::size_t places = 0;
    for (std::size_t core : topology.kinds[kind].cores)
        places += std::min(smt, topology.cores[core].pus.size());
    return places;
}

// Stages that together want no more than there is of each kind.
std::vector<StagePlacement> stages_that_fit(const Topology& topology) {
    std::vector<StagePlacement> stages;
    for (std::size_t kind = 0; kind < topology.kinds.size(); ++kind) {
        const auto smt = *rc::gen::inRange<std::size_t>(1, 4);
        for (std::size_t left = places_of(topology, kind, smt); left > 0;) {
            const auto threads = *rc::gen::inRange<std::size_t>(1, left + 1);
            left -= threads;
            stages.push_back({.threads = threads,
                              .kind = kind,
                              .pinning = *rc::gen::element(Pinning::kPacked, Pinning::kDistant),
                              .smt = smt});
        }
    }
    return stages;
}

}  // namespace

TEST_CASE("loose: threads may run anywhere") {
    CHECK(placed(m1_ultra(), {{.threads = 3, .pinning = Pinning::kLoose}}) == "any any any");
}

TEST_CASE("guided: every thread may use all cores of its kind, more threads than cores too") {
    CHECK(placed(m1_ultra(), {{.threads = 1, .kind = 0, .pinning = Pinning::kGuided},
                              {.threads = 2, .kind = 1, .pinning = Pinning::kGuided}}) ==
          "PU2-9,12-19 | PU0-1,10-11 PU0-1,10-11");
    CHECK(
        place_threads(m1_ultra(),
                      std::vector<StagePlacement>{{.threads = 99, .kind = 1, .pinning = Pinning::kGuided}})[0]
            .size() == 99);
}

TEST_CASE("packed: ascending cores, going on where the stage before stopped") {
    CHECK(placed(m1_ultra(),
                 {{.threads = 3, .kind = 0}, {.threads = 2, .kind = 1}, {.threads = 6, .kind = 0}}) ==
          "PU2 PU3 PU4 | PU0 PU1 | PU5 PU6 PU7 PU8 PU9 PU12");
}

TEST_CASE("distant: one core from each cluster in turn, going on where the stage before stopped") {
    constexpr auto kDistant = Pinning::kDistant;
    CHECK(placed(m1_ultra(), {{.threads = 3, .kind = 0, .pinning = kDistant},
                              {.threads = 3, .kind = 0, .pinning = kDistant},
                              {.threads = 3, .kind = 1, .pinning = kDistant}}) ==
          "PU2 PU6 PU12 | PU16 PU3 PU7 | PU0 PU10 PU1");
    CHECK(placed(laptop(), {{.threads = 8, .kind = 1, .pinning = kDistant}}) ==
          "PU12 PU16 PU13 PU17 PU14 PU18 PU15 PU19");
}

TEST_CASE("hardware threads: one per core unless asked for, then the second ones follow all the first") {
    CHECK(placed(laptop(), {{.threads = 6}}) == "PU0 PU2 PU4 PU6 PU8 PU10");
    CHECK(placed(laptop(), {{.threads = 8, .smt = 2}}) == "PU0 PU2 PU4 PU6 PU8 PU10 PU1 PU3");
    CHECK(placed(laptop(), {{.pinning = Pinning::kGuided}}) == "PU0,2,4,6,8,10");
    CHECK(placed(laptop(), {{.pinning = Pinning::kGuided, .smt = 2}}) == "PU0-11");
}

TEST_CASE("node lists stand for the kind's cores, in their own order") {
    CHECK(placed(laptop(), {{.threads = 2, .nodes = {"PU20-21"}}}) == "PU20 PU21");
    CHECK(placed(laptop(), {{.threads = 3, .nodes = {"core5", "core0"}, .smt = 2}}) == "PU10 PU0 PU11");
    CHECK(placed(laptop(), {{.threads = 1, .nodes = {"core5", "core0"}},
                            {.threads = 1, .nodes = {"core5", "core0"}}}) == "PU10 | PU0");
    CHECK(placed(laptop(), {{.threads = 1, .pinning = Pinning::kGuided, .nodes = {"14", "12"}}}) ==
          "PU12,14");
}

TEST_CASE("a cluster size by hand cuts the nodes into clusters") {
    CHECK(placed(laptop(),
                 {{.threads = 4, .pinning = Pinning::kDistant, .nodes = {"PU12-17"}, .cluster_size = 2}}) ==
          "PU12 PU14 PU16 PU13");
}

TEST_CASE("more threads than cores are refused with what was asked and what is there") {
    CHECK_THROWS_WITH_AS(placed(m1_ultra(), {{.threads = 3, .kind = 1}, {.threads = 2, .kind = 1}}),
                         "stage 2 (packed) wants 2 little cores, free are 1 of 4: give it fewer threads, "
                         "or pin it guided or loose",
                         PlatformError);
    CHECK_THROWS_WITH_AS(
        placed(laptop(), {{.threads = 3, .pinning = Pinning::kDistant, .nodes = {"core0-1"}}}),
        "stage 1 (distant) wants 3 places of its node list, free are 2 of 2: give it fewer threads, "
        "or pin it guided or loose",
        PlatformError);
}

TEST_CASE("a kind, a node or a hardware thread that is not there is refused") {
    CHECK_THROWS_WITH_AS(placed(laptop(), {{.kind = 3}}),
                         "stage 1 wants core kind number 3, but there are 3 kinds here", PlatformError);
    CHECK_THROWS_AS(placed(laptop(), {{.nodes = {"PU22"}}}), PlatformError);
    CHECK_THROWS_AS(placed(laptop(), {{.smt = 0}}), PlatformError);
}

TEST_CASE("property: packed and distant stages that fit never share a PU and stay within their kind") {
    CHECK(rc::check([] {
        const Topology& topology = any_machine();
        const std::vector<StagePlacement> stages = stages_that_fit(topology);
        std::map<int, std::size_t> kind_of;
        for (const Core& core : topology.cores)
            for (const Pu& pu : core.pus) kind_of[pu.number] = core.kind;
        std::set<int> seen;
        const auto threads = place_threads(topology, stages);
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            RC_ASSERT(threads[stage].size() == stages[stage].threads);
            for (const PuSet& pus : threads[stage]) {
                RC_ASSERT(pus.size() == 1U);
                RC_ASSERT(seen.insert(pus.front().number).second);
                RC_ASSERT(kind_of.at(pus.front().number) == stages[stage].kind);
            }
        }
    }));
}

TEST_CASE("property: distant loads clusters evenly, within one, until a cluster is full") {
    CHECK(rc::check([] {
        const Topology& topology = any_machine();
        const auto kind = *rc::gen::inRange<std::size_t>(0, topology.kinds.size());
        const auto threads = *rc::gen::inRange<std::size_t>(1, topology.kinds[kind].cores.size() + 1);
        const auto placed_threads = place_threads(
            topology,
            std::vector<StagePlacement>{{.threads = threads, .kind = kind, .pinning = Pinning::kDistant}});
        std::map<std::size_t, std::size_t> load_of;
        for (const Core& core : topology.cores)
            for (const PuSet& pus : placed_threads[0])
                load_of[core.cluster] += std::ranges::count(core.pus, pus.front());
        std::size_t most = 0;
        for (const auto& [cluster, cores] : load_of) most = std::max(most, cores);
        for (std::size_t cluster = 0; cluster < topology.clusters.size(); ++cluster) {
            if (topology.clusters[cluster].kind != kind) continue;
            const bool is_full = load_of[cluster] == topology.clusters[cluster].cores.size();
            RC_ASSERT(is_full || load_of[cluster] + 1 >= most);
        }
    }));
}

TEST_CASE("property: guided gives every thread exactly its kind's first hardware threads") {
    CHECK(rc::check([] {
        const Topology& topology = any_machine();
        const auto kind = *rc::gen::inRange<std::size_t>(0, topology.kinds.size());
        const auto threads = place_threads(
            topology, std::vector<StagePlacement>{{.threads = 2, .kind = kind, .pinning = Pinning::kGuided}});
        PuSet firsts;
        for (std::size_t core : topology.kinds[kind].cores)
            firsts.push_back(topology.cores[core].pus.front());
        RC_ASSERT(threads[0] == (std::vector<PuSet>{firsts, firsts}));
    }));
}

TEST_CASE("threads that share cores come two to a core, and no other thread comes there") {
    static const Topology plain = load(testing::two_plain_cores());
    const StagePlacement three{.threads = 3, .shares_core = true};
    const StagePlacement one{.threads = 1, .shares_core = true};
    CHECK(placed(plain, {three, one}) == "PU0 PU0 PU1 | PU1");
    CHECK(placed(plain, {one, {.threads = 1}, one}) == "PU0 | PU1 | PU0");
    CHECK_THROWS_AS(place_threads(plain, std::vector{three, StagePlacement{.threads = 1}}), PlatformError);
    CHECK_THROWS_AS(place_threads(plain, std::vector{three, three}), PlatformError);
}

TEST_CASE("on a core with two hardware threads, those that share it get one each") {
    const auto threads = place_threads(
        laptop(),
        std::vector{StagePlacement{.threads = 3, .shares_core = true}, StagePlacement{.threads = 1}});
    const auto core = [](std::size_t number) { return laptop().cores[laptop().kinds[0].cores[number]].pus; };
    REQUIRE(core(0).size() == 2);
    CHECK(threads[0] == std::vector<PuSet>{{core(0)[0]}, {core(0)[1]}, {core(1)[0]}});
    CHECK(threads[1] == std::vector<PuSet>{{core(2)[0]}});
}
