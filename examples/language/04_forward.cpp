#include <numeric>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x", 3), [](auto x) { std::iota(x.begin(), x.end(), 1); }));
    auto& twice = g.add(task("twice", forward<int>("x", 3), [](auto x) {
        for (int& each : x) each *= 2;
    }));
    auto& print = g.add(task("print", in<int>("before", 3), in<int>("after", 3),
                             [](auto before, auto after) { fmt::print("{} {}\n", before[2], after[2]); }));
    g.bind(source["x"], twice["x"]);
    g.bind(twice["x"], print["after"]);
    g.bind(source["x"], print["before"]);
    Sequence(g).run({.frames = 1});
}
