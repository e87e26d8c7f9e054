#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = ++n; }));

    // Collatz: while x is not 1, halve it when it is even, else triple it and add one.
    auto& loop = g.add<Loop<int>>("loop");
    auto& more =
        g.add(task("more", in<int>("x"), out<std::uint8_t>("c"), [](auto x, auto c) { c[0] = x[0] != 1; }));
    auto& branch = g.add<Switch<int>>("branch", std::uint8_t{2});
    auto& odd =
        g.add(task("odd", in<int>("x"), out<std::uint8_t>("c"), [](auto x, auto c) { c[0] = x[0] % 2; }));
    auto& halve = g.add(task("halve", forward<int>("x"), [](auto x) { x[0] /= 2; }));
    auto& triple = g.add(task("triple", forward<int>("x"), [](auto x) { x[0] = 3 * x[0] + 1; }));
    auto& print = g.add(task("print", in<int>("start"), in<int>("end"),
                             [](auto start, auto end) { fmt::print("{} ends at {}\n", start[0], end[0]); }));

    g.bind(source["x"], loop["first"]);
    g.bind(loop.turn, loop.data);
    g.bind(loop["turn"], more["x"]);
    g.bind(more["c"], loop["control"]);
    g.bind(loop.body, branch.data);
    g.bind(loop["body"], odd["x"]);
    g.bind(odd["c"], branch["control"]);
    g.bind(branch["out0"], halve["x"]);
    g.bind(halve["x"], branch["in0"]);
    g.bind(branch["out1"], triple["x"]);
    g.bind(triple["x"], branch["in1"]);
    g.bind(branch.joined, loop.next);
    g.bind(source["x"], print["start"]);
    g.bind(loop["done"], print["end"]);
    Sequence(g).run({.frames = 7});
}
