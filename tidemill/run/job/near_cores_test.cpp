#include "tidemill/run/job/near_cores.hpp"

#include <doctest/doctest.h>

#include "tidemill/run/internal/test_chain.hpp"
#include "tidemill/run/pipeline_cut.hpp"
#include "tidemill/schedule/cluster_placement.hpp"

namespace tidemill::internal {
namespace {

Topology four_cores() {
    TopologySource source;
    source.machine = TopologySource::Machine::kSynthetic;
    source.description = "core:4 pu:1";
    source.kinds = "big=core0-3";
    return Topology::load(source);
}

const CoreDistances kInTwos{{0, 200, 50, 220}, {200, 0, 210, 60}, {50, 210, 0, 190}, {220, 60, 190, 0}};

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

TEST_CASE("near cores: one core has no neighbour, and nothing is known of hand-overs") {
    CHECK_FALSE(NearCores(four_cores(), {{}}).hand_over_us());
    CHECK_FALSE(NearCores::measured(Topology::here(), Platform{.big = 1}).hand_over_us());
}

}  // namespace tidemill::internal
