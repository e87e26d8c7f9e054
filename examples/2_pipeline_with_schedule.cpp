// Profiles the tasks of a graph on this machine's cores, finds the best schedule, and runs the graph by it.

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

namespace {

constexpr std::size_t kSamples = 1024;

void bend(std::span<const float> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::sin(x[i]);
}

}  // namespace

int main() {
    Graph graph;
    auto& source =
        graph.add(task("source", out<float>("x", kSamples), [frame = 0.0f](std::span<float> x) mutable {
            std::fill(x.begin(), x.end(), frame++);
        }));
    auto& first = graph.add(task("first", in<float>("x", kSamples), out<float>("y", kSamples), bend));
    auto& second = graph.add(task("second", in<float>("x", kSamples), out<float>("y", kSamples), bend));
    int wrong = 0;
    auto& sink = graph.add(
        task("sink", in<float>("y", kSamples), [&wrong, frame = 0.0f](std::span<const float> y) mutable {
            wrong += y[0] != std::sin(std::sin(frame++));
        }));
    graph.chain(source, first, second, sink);

    const Topology topology = Topology::here();
    const Profile weights = profile(graph, topology, {.frames = 1000});
    const Schedule best = herad(weights, platform_of(topology));
    fmt::print("{}", to_table(best, weights));

    const RunReport report = Pipeline(graph, best, {.topology = &topology}).run({.frames = 5000});
    fmt::print("\n{}\n{} frames, {} wrong; {:.0f} a second predicted, {:.0f} real\n", stage_table(report),
               report.delivered, wrong, frames_per_second(best, weights),
               static_cast<double>(report.frames) / report.elapsed_s);
}
