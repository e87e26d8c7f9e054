// The smallest stream: a source, a gain and a sink, run in order for three frames of four samples.

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    constexpr std::size_t kSamples = 4;
    Graph graph;
    // A task that keeps something from frame to frame, like `next`, is called with frames in order.
    auto& source =
        graph.add(task("source", out<float>("x", kSamples), [next = 0.0f](std::span<float> x) mutable {
            for (float& each : x) each = next++;
        }));
    // A task that holds nothing and makes outputs of inputs is pure: any number of threads may run it.
    auto& gain = graph.add(task("gain", in<float>("x", kSamples), out<float>("y", kSamples),
                                [](std::span<const float> x, std::span<float> y) {
                                    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
                                }));
    auto& sink = graph.add(task("sink", in<float>("y", kSamples), [](std::span<const float> y) {
        fmt::print("{} {} {} {}\n", y[0], y[1], y[2], y[3]);
    }));
    graph.chain(source, gain, sink);
    Sequence(graph).run({.frames = 3});
}
