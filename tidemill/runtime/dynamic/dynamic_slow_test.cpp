#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/dynamic/testing/flat_memory.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

TEST_CASE("a stream of ten million tasks takes no more memory than one of a hundred thousand") {
    constexpr std::uint64_t kUnits = 8;
    Graph graph;
    auto* last = static_cast<Module*>(&graph.add(
        task("source", out<std::uint64_t>("y"), [n = std::uint64_t{0}](auto y) mutable { y[0] = n++; })));
    for (std::uint64_t k = 2; k < kUnits; ++k) {
        auto& next = graph.add(task("add", in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                    [](auto x, auto y) { y[0] = x[0] + 1; }));
        graph.bind((*last)["y"], next["x"]);
        last = &next;
    }
    std::uint64_t sum = 0;
    auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&sum](auto x) { sum += x[0]; }));
    graph.bind((*last)["y"], sink["x"]);
    Dynamic dynamic(graph, {.workers = 2});
    dynamic.run({.frames = 100'000 / kUnits});
    const internal::FlatMemory memory;
    constexpr std::uint64_t kFrames = 10'000'000 / kUnits;
    dynamic.resume({.frames = kFrames - 100'000 / kUnits});
    memory.check();
    CHECK(sum == kFrames * (kFrames - 1) / 2 + kFrames * (kUnits - 2));
}

}  // namespace tidemill
