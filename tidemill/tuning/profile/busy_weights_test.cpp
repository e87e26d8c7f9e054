#include "tidemill/tuning/profile/busy_weights.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/testing/counted_sum.hpp"

namespace tidemill {
namespace {

Profile three_units(const std::string& kind) {
    Profile profile;
    profile.kinds = {kind};
    profile.tasks = {{"count.next", false, {1}}, {"wait.wait", true, {200}}, {"sum.take", false, {1}}};
    return profile;
}

void build(Graph& graph) {
    auto& source = graph.add<internal::Count>(1 << 20);
    auto& wait = graph.add(task("wait", pure, forward<int>("x"),
                                [](auto) { std::this_thread::sleep_for(std::chrono::microseconds(200)); }));
    auto& sum = graph.add<internal::Sum>();
    graph.bind(source.value, wait["x"]);
    graph.bind(wait["x"], sum.value);
}

}  // namespace

TEST_CASE("busy weights: units of replicated stages weigh per source frame, over all threads") {
    const Topology topology = Topology::here();
    const CoreKind& kind = topology.kinds.front();
    if (kind.cores.size() < 2) return;
    Graph graph;
    build(graph);
    const std::vector<double> weights_us =
        busy_weights_us(graph, three_units(kind.name), kind, 2, topology, 0.05);
    if (weights_us.empty()) return;  // so busy a machine that hardly a frame came
    REQUIRE(weights_us.size() == 3);
    CHECK(weights_us[1] >= 190);
    CHECK(weights_us[0] < weights_us[1]);
}

TEST_CASE("busy weights: one core cannot be busy beside itself") {
    const Topology topology = Topology::here();
    const CoreKind& kind = topology.kinds.front();
    Graph graph;
    build(graph);
    CHECK(busy_weights_us(graph, three_units(kind.name), kind, 1, topology, 0.05).empty());
}

}  // namespace tidemill
