#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("y", 3), [n = 0](auto y) mutable {
        for (int& each : y) each = ++n;
    }));
    auto& sum =
        g.add(task("sum", in<int>("x", 2), out<int>("y"), [](auto x, auto y) { y[0] = x[0] + x[1]; }));
    auto& print = g.add(task("print", in<int>("x", 3), [](auto x) { fmt::print("{}\n", x); }));
    g.stream(source["y"], sum["x"]);
    g.stream(sum["y"], print["x"]);
    Sequence sequence(g);
    for (const OrderedTask& each : sequence.structure().order) {
        fmt::print("{} runs {} times per frame\n", each.name, each.firings);
    }
    sequence.run({.frames = 2});
}
