#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/herad.hpp"

using namespace tidemill;

TEST_CASE("a schedule with two stages on one core is made, pinned and run") {
    const Topology topology = Topology::here();
    const std::string& kind = topology.kinds.front().name;
    const Chain chain{{kind},
                      {{"counter.next", false, {10}},
                       {"twice.twice", false, {1}},
                       {"thin.thin", false, {2}},
                       {"sink.sink", false, {8}}}};
    Platform one_core;
    one_core.set(kind, 1);
    const CostModel model{.kinds = {{.kind = kind, .shared_slowdown = 1.2}}};
    const Schedule schedule = herad(chain, one_core, {}, model);
    REQUIRE(schedule.stages.size() == 2);
    CHECK(schedule.stages[0].shares_core);
    CHECK(schedule.stages[1].shares_core);

    Graph graph;
    internal::build_test_chain(graph);
    const RunReport report = Pipeline(graph, schedule, {.topology = &topology}).run({.frames = 100});
    CHECK(report.delivered == 50);
    const Core& core = topology.cores[topology.kinds.front().cores.front()];
    for (std::size_t stage = 0; stage < 2; ++stage) {
        const Pu& expected = core.pus[stage % core.pus.size()];
        CHECK(report.stages[stage].threads[0].cores == to_string(PuSet{expected}));
    }
}
