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

    Graph lenient;
    auto& numbers = lenient.add(task("numbers", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& inverse =
        lenient.add(task("inverse", pure, skip_errors, in<int>("x"), out<int>("y"), [](auto x, auto y) {
            if (x[0] % 3 == 0) throw std::runtime_error("not of multiples of 3");
            y[0] = 60 / x[0];
        }));
    auto& tell = lenient.add(task("tell", in<int>("y"), [](auto y) { fmt::print("{}\n", y[0]); }));
    lenient.chain(numbers, inverse, tell);
    const RunReport report = Sequence(lenient).run({.frames = 6});
    for (const TaskErrors& errors : report.errors)
        fmt::print("{}: {} frames, the first {}: {}\n", errors.task, errors.frames, errors.first_frame,
                   errors.first);
}
