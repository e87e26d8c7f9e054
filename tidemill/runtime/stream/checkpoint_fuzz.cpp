#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/internal/fnv.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/stream/stream_state.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace {

using namespace tidemill;

struct Counter : Module {
    Knob<float> step = knob("step", 1.0f, Range{0, 100});
    Out<float> y = out<float>("y");
    Task run = task("run", &Counter::make);
    void make(Frame f) { f[y][0] = sum_ += f[step]; }
    void keep(Archive& archive) override { archive("sum", sum_)("name", name_)("past", past_); }
    float sum_ = 0;
    std::string name_ = "counter";
    std::vector<std::string> past_{"a", "b"};
};

// Nobody finds a digest by chance.
std::string with_digest(std::string text) {
    internal::Fnv fnv;
    fnv.add(std::as_bytes(std::span(text)));
    return text + fnv.text();
}

}  // namespace

/// Any text is a checkpoint or a RunError. What is one is given back to a graph, or refused; a stream that
/// goes on from it runs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const std::string& each : {text, with_digest(text)}) {
        Graph graph;
        auto& counter = graph.add<Counter>();
        auto& delay = graph.add<Delay<float>>("delay", 1, 2);
        graph.bind(counter.y, delay.now);
        try {
            Checkpoint checkpoint = parse_checkpoint(each, "fuzz");
            checkpoint.graph = identity_of(graph);
            Sequence(graph).run({.frames = 3, .restore = &checkpoint});
        } catch (const RunError&) {
        }
    }
    return 0;
}
