#include <array>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    Graph g;
    auto& samples = g.add<Inlet<int>>(4u);
    auto& amp =
        g.add(task("amp", knob("gain", 1), in<int>("x", 4), out<int>("y", 4), [](int gain, auto x, auto y) {
            for (std::size_t i = 0; i < 4; ++i) y[i] = gain * x[i];
        }));
    auto& amplified = g.add<Outlet<int>>(4u);
    g.chain(samples, amp, amplified);

    Pipeline pipeline(g, thread_per_task(g));
    pipeline.set(amp.find_knob<int>("gain"), 10, From{1});  // from any thread, also later
    Started run(pipeline);
    std::array<int, 6> got{};
    samples.push(std::vector{1, 2, 3, 4, 5});
    fmt::print("{} now\n", amplified.pull(std::span(got).first(4)));
    samples.push(std::vector{6, 7, 8, 9});
    fmt::print("{} fill no frame\n", samples.close());
    fmt::print("{} before the end: {}\n", amplified.pull(got), std::span(got).first(4));
    fmt::print("{} frames\n", run.join().delivered);

    try {
        samples.push(std::vector{10});
    } catch (const RunError& error) {
        fmt::print("{}\n", error.what());
    }

    // Functions in place of copies; what one throws ends the run, and both handler and join() get it.
    Graph h;
    auto& counting = h.add<Inlet<int>>(1u, [n = 0](std::span<int> x) mutable {
        x[0] = n++;
        return true;  // there is always more
    });
    auto& printing = h.add<Outlet<int>>(1u, [](std::span<const int> x) {
        if (x[0] == 2) throw std::runtime_error("the printer is out of paper");
        fmt::print("{}\n", x[0]);
    });
    h.chain(counting, printing);
    Sequence sequence(h);
    Started failing(sequence, {}, [](const std::exception& error) { fmt::print("{}\n", error.what()); });
    try {
        failing.join();
    } catch (const FrameError& error) {
        fmt::print("it was {}\n", error.task());
    }
}
