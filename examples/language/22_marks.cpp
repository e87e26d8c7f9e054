#include <algorithm>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Gives blocks of samples; where it was too slow for the antenna, some are missing before a sample.
struct Radio : Module {
    Out<int> samples = out<int>("samples", 6);
    Marks<int> gaps = marks<int>("gap", samples, upto(4));
    Task receive = task("receive", &Radio::run);
    void run(Frame f) {
        for (std::size_t i = 0; i < 6; ++i, ++n) {
            if (n % 10 == 7) f[gaps].add(i, 100 + n);
            f[samples][i] = n;
        }
    }
    int n = 0;
};

// Three samples become two, so that what lay on one may lie between two.
struct Resampler : Module {
    In<int> x = in<int>("x", 3);
    Out<int> y = out<int>("y", 2);
    Task run = task("run", &Resampler::resample, pure);
    void resample(Frame f) const {
        f[y][0] = f[x][0];
        f[y][1] = (f[x][1] + f[x][2]) / 2;
    }
};

int main() {
    Graph g;
    auto& radio = g.add<Radio>();
    auto& resampler = g.add<Resampler>();
    auto& sync = g.add(task("sync", sequential, in<int>("x", 5), marks<const int>("gap", "x"),
                            [block = 0](auto x, auto gaps) mutable {
                                fmt::print("block {} begins with {}\n", block++, x[0]);
                                for (const auto& [place, missing] : gaps)
                                    fmt::print("  {} missing at {} {}/{}\n", missing, place.element,
                                               place.over, place.under);
                            }));
    g.stream(radio.samples, resampler.x);
    g.stream(resampler["y"], sync["x"]);
    Pipeline(g, thread_per_task(g)).run({.frames = 1});
}
