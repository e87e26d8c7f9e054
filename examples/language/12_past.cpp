#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

struct Ramp : Module {
    Out<float> y = out<float>("y", 2);
    Task make = task("make", &Ramp::run, pure);
    void run(Frame f) const {
        f[y][0] = static_cast<float>(2 * f.number() + 1);
        f[y][1] = f[y][0] + 1;
    }
};

// The mean of each sample and the two before it: takes two samples, sees four.
struct Smooth : Module {
    In<float> x = in<float>("x", 4);
    Out<float> y = out<float>("y", 2);
    Task filter = task("filter", &Smooth::run, pure);
    void run(Frame f) const {
        for (std::size_t i = 0; i < 2; ++i) f[y][i] = (f[x][i] + f[x][i + 1] + f[x][i + 2]) / 3;
    }
};

struct Add : Module {
    In<float> x = in<float>("x", 2);
    In<float> before = in<float>("before");
    Out<float> total = out<float>("total");
    Task add = task("add", &Add::run, pure);
    void run(Frame f) const { f[total][0] = f[before][0] + f[x][0] + f[x][1]; }
};

int main() {
    Graph g;
    auto& ramp = g.add<Ramp>();
    auto& smooth = g.add<Smooth>();
    auto& add = g.add<Add>();
    auto& past = g.add<Delay<float>>("past", 1, 1, std::vector<float>{100});
    auto& print = g.add(task("print", in<float>("smooth", 2), in<float>("total"), [](auto x, auto total) {
        fmt::print("{:.2f} {:.2f}, total {:.2f}\n", x[0], x[1], total[0]);
    }));
    peek(g, ramp.y, smooth.x);
    g.bind(smooth.y, add.x);
    g.bind(past.delayed, add.before);
    g.bind(add.total, past.now);
    g.bind(smooth["y"], print["smooth"]);
    g.bind(add["total"], print["total"]);
    Sequence(g).run({.frames = 3});
}
