#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Weighs as many elements as it is bound to; without weights, by 2.
struct Weigh : Module {
    InAny<float> x = in<float>("x", any);
    InAny<float> weights = in<float>("weights", as("x"), or_else(2.0f));
    OutAny<float> y = out<float>("y", as("x"));
    Task weigh = task("weigh", &Weigh::run, pure);
    void run(Frame f) const {
        for (std::size_t i = 0; i < f[x].size(); ++i) f[y][i] = f[weights][i] * f[x][i];
    }
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<float>("y", 3), [n = 0.0f](auto y) mutable {
        for (float& each : y) each = ++n;
    }));
    auto& twice = g.add<Weigh>(named("twice"));
    auto& signs = g.add<Weigh>(named("signs"));
    auto& print = g.add(task("print", in<float>("x", any), [](auto x) { fmt::print("{}\n", x); }));
    g.bind(std::vector<float>{1, 0, -1}, signs.weights);
    g.chain(source, twice, signs, print);
    Sequence(g).run({.frames = 2});

    auto& four = g.add(task("four", in<float>("x", 4), [](auto) {}));
    try {
        g.chain(signs, four);
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
    Graph open;
    auto& begin = open.add(task("begin", out<float>("y", any), [](auto) {}));
    auto& end = open.add(task("end", in<float>("x", any), [](auto) {}));
    open.chain(begin, end);
    try {
        Sequence{open};
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
}
