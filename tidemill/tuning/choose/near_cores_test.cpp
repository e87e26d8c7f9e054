#include "tidemill/tuning/choose/near_cores.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline_cut.hpp"
#include "tidemill/runtime/testing/made_up_machine.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/cluster_placement.hpp"

namespace tidemill::internal {
namespace {

const CoreDistances kInTwos{{0, 200, 50, 220}, {200, 0, 210, 60}, {50, 210, 0, 190}, {220, 60, 190, 0}};

/// A measurement of cores whose clusters are so many each: 50 ns within one and 200 between two, and for each
/// KiB 100 and 400 more.
struct MadeUp {
    std::size_t of_cluster;
    std::vector<std::size_t> cores{};  // in each of the measurements
    bool knows_bytes = true;

    MeasureDistances measure() {
        return [this](std::span<const std::size_t> some, double seconds, std::size_t bytes) -> CoreDistances {
            cores.push_back(some.size());
            CHECK(seconds <= 0.02);
            if (bytes > 0 && !knows_bytes) return {};
            CoreDistances distances(some.size(), std::vector<double>(some.size(), 0));
            const double kib = static_cast<double>(bytes) / 1024;
            for (std::size_t a = 0; a < some.size(); ++a)
                for (std::size_t b = 0; b < some.size(); ++b)
                    if (a != b)
                        distances[a][b] =
                            some[a] / of_cluster == some[b] / of_cluster ? 50 + 100 * kib : 200 + 400 * kib;
            return distances;
        };
    }
};

std::vector<std::size_t> sizes_of(const FarCuts& far) {
    std::vector<std::size_t> sizes;
    for (const std::vector<int>& cluster : far.clusters) sizes.push_back(cluster.size());
    return sizes;
}

}  // namespace

TEST_CASE("near cores: neighbouring stages get cores that are near each other, and a hand-over is one trip") {
    const NearCores near(four_cores(), {kInTwos});
    CHECK(near.hand_over_us() == doctest::Approx(0.055));  // 50 and 60 ns
    Schedule schedule{.stages = {{0, 1, 1, "big"}}};
    near.place(schedule);
    REQUIRE(schedule.resources.size() == 1);
    std::vector<int> row;
    for (const NodeRange& node : schedule.resources[0].nodes) row.push_back(node.first);
    CHECK(row == std::vector<int>{0, 2, 3, 1});
}

TEST_CASE("near cores: what a schedule says of its cores stays, and so do cores that are alike") {
    Schedule given{.stages = {{0, 1, 1, "big"}},
                   .resources = {{"big", {{NodeRange::Unit::kCore, 3, 3}}, 1, {}}}};
    const Schedule before = given;
    NearCores(four_cores(), {kInTwos}).place(given);
    CHECK(given == before);
    Schedule open{.stages = {{0, 1, 1, "big"}}};
    NearCores(four_cores(), {{{0, 90, 95}, {90, 0, 100}, {95, 100, 0}}}).place(open);
    CHECK(open.resources.empty());
}

TEST_CASE("near cores: far cuts count for kinds whose cores a schedule leaves open") {
    const NearCores near(four_cores(), {kInTwos});
    Schedule given{.stages = {{0, 1, 1, "big"}}};
    CHECK(near.far_cuts_beside(given) == near.far_cuts());
    given.resources = {{"big", {}, 1, {}}};
    CHECK(near.far_cuts_beside(given) == near.far_cuts());
    given.resources = {{"big", {{NodeRange::Unit::kCore, 0, 3}}, 1, {}}};
    CHECK(near.far_cuts_beside(given).empty());
}

TEST_CASE("near cores: those that are clearly farther from others than from each other are in clusters") {
    const NearCores near(four_cores(), {kInTwos});
    REQUIRE(near.far_cuts().size() == 1);
    CHECK(near.far_cuts()[0].kind == "big");
    CHECK(near.far_cuts()[0].clusters == std::vector<std::vector<int>>{{0, 2}, {3, 1}});
    CHECK(near.far_cuts()[0].hop_us == 0.15);  // 205 ns in the mean, beyond 55
    CHECK(near.far_cuts()[0].byte_us == 0);
    const CoreDistances in_a_chain{{0, 50, 95}, {50, 0, 50}, {95, 50, 0}};
    CHECK(
        NearCores(four_cores(), {in_a_chain}).far_cuts().empty());  // far from each other, near the same one
    CHECK(NearCores(four_cores(), {{}}).far_cuts().empty());
}

TEST_CASE("near cores: threads get the cores that their placement in clusters counts with") {
    const Topology topology = four_cores();
    const NearCores near(topology, {kInTwos});
    Chain chain{.kinds = {"big"}, .tasks = {}};
    for (const char* name : {"counter.next", "twice.twice", "thin.thin", "sink.sink"})
        chain.tasks.push_back({name, false, {1}});
    Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}, {1, 1}});
    schedule.stages[0].owners = schedule.stages[2].owners = {1};
    const CostModel model{.far_cuts = near.far_cuts()};
    place_in_clusters(schedule, chain, model);
    // The first and the third are one thread, beside one of those that it talks to.
    CHECK(far_cuts_us(schedule, model) == std::vector<std::vector<double>>{{0}, {0}, {0.15}, {0.15}});
    Graph graph;
    build_test_chain(graph);
    const EngineCut cut = cut_of(graph, schedule, {.topology = &topology});
    std::vector<int> cores;
    for (const EngineStage& stage : cut.stages) cores.push_back(stage.cores.at(0).at(0).number);
    CHECK(cores == std::vector<int>{0, 2, 0, 3});
}

TEST_CASE("near cores: between few all is measured, whatever the topology says, and then what bytes cost") {
    MadeUp made_up{.of_cluster = 4};
    const NearCores near =
        NearCores::measured(made_up_machine("core:16 pu:1", "big=core0-15"), {.big = 6}, made_up.measure());
    REQUIRE(near.far_cuts().size() == 1);
    const FarCuts& far = near.far_cuts()[0];
    CHECK(far.clusters == std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5}});
    CHECK(far.hop_us == 0.15);
    CHECK(far.byte_us == 0.000146);  // 300 ns for 1 KiB there and back, a half of it on each side
    CHECK(near.hand_over_us() == doctest::Approx(0.05));
    CHECK(made_up.cores == std::vector<std::size_t>{6, 3, 3});
}

TEST_CASE("near cores: of many, one of each of the topology's clusters is measured, and a neighbour") {
    MadeUp made_up{.of_cluster = 4};
    const Topology topology = made_up_machine("l3:5 core:4 pu:2", "big=core0-19");
    const NearCores near = NearCores::measured(topology, {.big = 18}, made_up.measure());
    CHECK(made_up.cores == std::vector<std::size_t>{6, 3, 3});
    REQUIRE(near.far_cuts().size() == 1);
    CHECK(sizes_of(near.far_cuts()[0]) == std::vector<std::size_t>{4, 4, 4, 4, 2});
    CHECK(near.far_cuts()[0].hop_us == 0.15);
    CHECK(near.far_cuts()[0].byte_us == 0.000146);
    CHECK(near.hand_over_us() == doctest::Approx(0.05));
}

TEST_CASE("near cores: of very many clusters nine are measured, and the others are as far") {
    MadeUp made_up{.of_cluster = 8};
    const Topology topology = made_up_machine("pack:2 l3:8 core:8 pu:1", "big=core0-127");
    const NearCores near = NearCores::measured(topology, {.big = 128}, made_up.measure());
    CHECK(made_up.cores == std::vector<std::size_t>{10, 3, 3});
    REQUIRE(near.far_cuts().size() == 1);
    CHECK(sizes_of(near.far_cuts()[0]) == std::vector<std::size_t>(16, 8));
    CHECK(near.far_cuts()[0].hop_us == 0.15);
}

TEST_CASE("near cores: clusters of the topology that are near each other are one") {
    MadeUp made_up{.of_cluster = 8};
    const Topology topology = made_up_machine("l2:8 core:2 pu:1", "big=core0-15");
    const NearCores near = NearCores::measured(topology, {.big = 16}, made_up.measure());
    REQUIRE(near.far_cuts().size() == 1);
    CHECK(sizes_of(near.far_cuts()[0]) == std::vector<std::size_t>{8, 8});
    MadeUp alike{.of_cluster = 16};
    CHECK(NearCores::measured(topology, {.big = 16}, alike.measure()).far_cuts().empty());
    CHECK(alike.cores == std::vector<std::size_t>{9});
}

TEST_CASE("near cores: each kind is measured by itself, and one that has no cores here is left alone") {
    MadeUp made_up{.of_cluster = 2};
    const Topology topology = made_up_machine("core:8 pu:1", "big=core0-3,little=core4-7");
    const NearCores near = NearCores::measured(topology, {.big = 4, .little = 4}, made_up.measure());
    REQUIRE(near.far_cuts().size() == 2);
    CHECK(near.far_cuts()[1].kind == "little");
    CHECK(near.far_cuts()[1].clusters == std::vector<std::vector<int>>{{4, 5}, {6, 7}});
    MadeUp of_one{.of_cluster = 2};
    CHECK(NearCores::measured(topology, {.little = 4}, of_one.measure()).far_cuts().size() == 1);
}

TEST_CASE("near cores: what could not be measured is not known, and costs nothing") {
    const Topology four_by_four = made_up_machine("l3:4 core:4 pu:1", "big=core0-15");
    const auto of_all = [&](const MeasureDistances& measure, int cores = 16) {
        return NearCores::measured(four_by_four, {.big = cores}, measure);
    };
    const auto never = [](auto&&...) { return CoreDistances{}; };
    CHECK(of_all(never).far_cuts().empty());
    CHECK(of_all(never, 4).far_cuts().empty());
    CHECK_FALSE(of_all(never).hand_over_us());
    MadeUp without_bytes{.of_cluster = 4, .knows_bytes = false};
    REQUIRE(of_all(without_bytes.measure()).far_cuts().size() == 1);
    CHECK(of_all(without_bytes.measure()).far_cuts()[0].byte_us == 0);
    // Clusters of one core each have nothing near, and times of 0 show nothing.
    MadeUp alone{.of_cluster = 1};
    const Topology twelve = made_up_machine("l3:12 core:1 pu:1", "big=core0-11");
    CHECK(NearCores::measured(twelve, {.big = 12}, alone.measure()).far_cuts().empty());
    const auto zero = [](std::span<const std::size_t> some, double, std::size_t) {
        return CoreDistances(some.size(), std::vector<double>(some.size(), 0));
    };
    CHECK(of_all(zero).far_cuts().empty());
}

TEST_CASE("near cores: a far cut never costs less than a near one, however long a chain of near ones is") {
    // 0 to 8 in a row, each 70 ns from the next; 9 is 110 from all of them.
    CoreDistances distances(10, std::vector<double>(10, 110));
    for (std::size_t a = 0; a < 9; ++a)
        for (std::size_t b = 0; b < 9; ++b)
            distances[a][b] = a == b ? 0 : 70 * std::abs(static_cast<double>(a) - static_cast<double>(b));
    const NearCores near(made_up_machine("core:10 pu:1", "big=core0-9"), {distances});
    REQUIRE(near.far_cuts().size() == 1);
    CHECK(near.far_cuts()[0].hop_us == 0);
}

TEST_CASE("near cores: one core has no neighbour, and nothing is known of hand-overs") {
    CHECK_FALSE(NearCores(four_cores(), {{}}).hand_over_us());
    CHECK_FALSE(NearCores::measured(Topology::here(), Platform{.big = 1}).hand_over_us());
}

}  // namespace tidemill::internal
