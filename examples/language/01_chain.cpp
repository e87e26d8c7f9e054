#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& ones = g.add(task("ones", out<int>("y", 4), [](auto y) {
        for (int& each : y) each = 1;
    }));
    auto& sum = g.add(task("sum", in<int>("x", 4), out<int>("y"), [](auto x, auto y) {
        y[0] = 0;
        for (const int each : x) y[0] += each;
    }));
    auto& print = g.add(task("print", in<int>("x"), [](auto x) { fmt::print("{}\n", x[0]); }));
    g.chain(ones, sum, print);
    Sequence(g).run({.frames = 2});
}
