#include <sstream>
#include <thread>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// A stream of numbers, each with the gain under which it began, added up to one that tells them all.
struct Stream {
    Graph graph{};
    std::uint64_t sum = 0;
    Knob<std::uint32_t> gain{};

    Stream() {
        auto& source =
            graph.add(task("source", out<std::uint64_t>("y"), [n = 0u](auto y) mutable { y[0] = n++; }));
        auto& amp = graph.add(task("amp", knob("gain", 1u), in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                   [](std::uint32_t g, auto x, auto y) { y[0] = g * x[0]; }));
        auto& add = graph.add(task("add", in<std::uint64_t>("x"), [this](auto x) { sum = 31 * sum + x[0]; }));
        graph.chain(source, amp, add);
        gain = amp.find_knob<std::uint32_t>("gain");
    }
};

int main() {
    std::stringstream file;  // or a path
    Stream live;
    {
        Journal journal(file);
        Pipeline pipeline(live.graph, thread_per_task(structure_of(live.graph), 2));
        std::jthread turner([&](const std::stop_token& stop) {
            for (std::uint32_t i = 0; !stop.stop_requested(); ++i) pipeline.set(live.gain, i % 100);
        });
        pipeline.run({.frames = 20000, .journal = &journal});
    }
    const JournalRecord record = parse_journal(file, "the journal");

    Stream again;
    Sequence(again.graph).run({.replay = &record});
    fmt::print("replayed in order: {}\n", again.sum == live.sum ? "the same" : "another");
    Stream dynamic;
    Dynamic(dynamic.graph).run({.replay = &record});
    fmt::print("replayed dynamically: {}\n", dynamic.sum == live.sum ? "the same" : "another");

    Graph other;
    auto& source = other.add(task("source", out<int>("y"), [](auto y) { y[0] = 0; }));
    auto& sink = other.add(task("sink", in<int>("x"), [](auto) {}));
    other.chain(source, sink);
    try {
        Sequence(other).run({.replay = &record});
    } catch (const JournalError&) {
        fmt::print("another graph: refused\n");
    }
}
