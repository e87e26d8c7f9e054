#include <vector>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

struct Line : Module {
    In<float> x = in<float>("x");
    In<float> coefficients = in<float>("coefficients", 2);
    Out<float> y = out<float>("y");
    Task evaluate = task("evaluate", &Line::run, pure);
    void run(Frame f) const { f[y][0] = f[coefficients][0] + f[coefficients][1] * f[x][0]; }
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<float>("x"), [n = 0.0f](auto x) mutable { x[0] = n++; }));
    auto& line = g.add<Line>();
    auto& print = g.add(task("print", in<float>("x"), in<float>("y"),
                             [](auto x, auto y) { fmt::print("{} -> {}\n", x[0], y[0]); }));
    g.bind(source["x"], line.x);
    g.bind(std::vector<float>{0.5f, 2}, line.coefficients);
    g.bind(source["x"], print["x"]);
    g.bind(line.y, print["y"]);
    Sequence(g).run({.frames = 3});
}
