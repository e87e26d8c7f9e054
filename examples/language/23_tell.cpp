#include <cmath>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

struct Amp : Module {
    Knob<float> gain = knob("gain", 1.0f, Range{0, 1000});
    In<float> x = in<float>("x");
    Out<float> y = out<float>("y");
    Task run = task("run", &Amp::amplify, pure);
    void amplify(Frame f) const { f[y][0] = f[gain] * f[x][0]; }
};

// Looks at what comes out far behind, and sets the gain in front: a control loop.
struct Level : Module {
    explicit Level(const Amp& amp) : gain(amp.gain) {}
    In<float> x = in<float>("x");
    Task control = task("control", &Level::look);
    void look(Frame f) {
        if (f.number() % 32 == 0) fmt::print("{:.2f}\n", f[x][0]);
        if (f.number() % 16 == 0) f.tell(gain, guess *= std::sqrt(8 / f[x][0]), {.after = 16});
    }
    Knob<float> gain;
    float guess = 1;
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<float>("y"), [](auto y) { y[0] = 0.5f; }));
    auto& amp = g.add<Amp>();
    auto& twice =
        g.add(task("twice", in<float>("x"), out<float>("y"), [](auto x, auto y) { y[0] = 2 * x[0]; }));
    auto& level = g.add<Level>(amp);
    g.chain(source, amp, twice, level);
    Pipeline(g, thread_per_task(g)).run({.frames = 161});

    try {
        Pipeline(g, thread_per_task(g), {.ring_depth = 20}).run({.frames = 1});
    } catch (const FrameError& error) {
        const std::string what = error.what();
        fmt::print("{}\n", what.substr(what.find(": ") + 2));
    }
}
