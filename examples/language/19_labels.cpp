#include <algorithm>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Gives blocks of samples, and says when the first one of each was taken and at which frequency.
struct Radio : Module {
    Out<int> samples = out<int>("samples", 4);
    Label<double> time_s = label<double>("time");
    Label<double> frequency_hz = label<double>("frequency");
    Task receive = task("receive", &Radio::run);
    void run(Frame f) {
        for (int& sample : f[samples]) sample = n++ % 7;
        f[time_s] = 1e-3 * static_cast<double>(f.number());
        f[frequency_hz] = f.number() < 3 ? 100e6 : 101e6;
    }
    int n = 0;
};

int main() {
    Graph g;
    auto& radio = g.add<Radio>();
    auto& squelch = g.add(task("squelch", may_skip, in<int>("x", 4), out<int>("y", 4), [](auto x, auto y) {
        std::copy(x.begin(), x.end(), y.begin());
        return x[0] % 2 == 0 ? Flow::ok : Flow::skip;
    }));
    auto& sum =
        g.add(task("sum", in<int>("x", 2), out<int>("y"), [](auto x, auto y) { y[0] = x[0] + x[1]; }));
    auto& print =
        g.add(task("print", in<int>("x"), label<const double>("time"), label<const double>("frequency"),
                   [](auto x, const double& time_s, const double& frequency_hz) {
                       fmt::print("{:.3f} s, {:.0f} MHz: {}\n", time_s, frequency_hz / 1e6, x[0]);
                   }));
    g.bind(radio["samples"], squelch["x"]);
    g.stream(squelch["y"], sum["x"]);
    g.stream(sum["y"], print["x"]);
    Pipeline(g, thread_per_task(g)).run({.frames = 6});

    auto& other = g.add(task("other", in<int>("x"), label<const double>("gain"), [](auto, const double&) {}));
    g.stream(sum["y"], other["x"]);
    try {
        Sequence{g};
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
}
