#include <stdexcept>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& check = g.add(task("check", forward<int>("x"), [](auto x) {
        if (x[0] == 2) throw std::runtime_error("2 is not welcome");
    }));
    auto& print = g.add(task("print", in<int>("x"), [](auto x) { fmt::print("{}\n", x[0]); }));
    g.bind(source["x"], check["x"]);
    try {
        Sequence{g};
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
    g.bind(check["x"], print["x"]);
    try {
        Sequence(g).run();
    } catch (const FrameError& error) {
        fmt::print("{}\n", error.what());
    }
}
