#include <thread>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

struct Amp : Module {
    Knob<float> gain = knob("gain", 1.0f, Range{0, 100});
    Knob<std::vector<float>> taps = knob("taps", std::vector<float>{1, 0});
    In<float> x = in<float>("x", 2);
    Out<float> y = out<float>("y");
    Task run = task("run", &Amp::amplify, pure);
    void amplify(Frame f) const { f[y][0] = f[gain] * (f[taps][0] * f[x][0] + f[taps][1] * f[x][1]); }
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<float>("y", 2), [](auto y) { y[0] = y[1] = 1; }));
    auto& amp = g.add<Amp>();
    float last = 0;
    int frame = 0;
    auto& print = g.add(task("print", in<float>("x"), [&](auto x) {
        if (x[0] != last) fmt::print("from frame {}: {}\n", frame, x[0]);
        last = x[0];
        ++frame;
    }));
    g.chain(source, amp, print);

    Pipeline pipeline(g, thread_per_task(structure_of(g), 2));
    pipeline.set(amp.gain, 2.0f, From{1000});
    pipeline.set(amp.gain, 3.0f, amp.taps, std::vector<float>{1, 1}, From{2000});
    pipeline.run({.frames = 3000});

    // Any thread may set a knob, also while the stream runs; set() returns the frame from which on it holds.
    SetAt at{};
    std::jthread([&] { at = pipeline.set(amp.gain, 4.0f); }).join();
    fmt::print("set from frame {}\n", at.frame);
    pipeline.resume({.frames = 1000});
    try {
        pipeline.set(amp.gain, 200.0f);
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
}
