#include "tidemill/run/job/near_cores.hpp"

#include <doctest/doctest.h>

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
    CHECK(near.hand_over_us() == doctest::Approx(0.1));  // 50, 190 and 60 ns
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

TEST_CASE("near cores: one core has no neighbour, and nothing is known of hand-overs") {
    CHECK_FALSE(NearCores(four_cores(), {{}}).hand_over_us());
    CHECK_FALSE(NearCores::measured(Topology::here(), Platform{.big = 1}).hand_over_us());
}

}  // namespace tidemill::internal
