#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

/// The front of the receiver by itself: for its tests and benchmarks.
namespace tidemill::dvbs2::internal {

/// Hands on every block of symbols.
class SymbolSink final : public Module {
  public:
    using Take = std::function<void(const SymbolBlock&)>;

    explicit SymbolSink(Take take) : Module("sink"), take_(std::move(take)) {}

    In<SymbolBlock> symbols = in<SymbolBlock>("symbols");
    Task collect = task("collect", &SymbolSink::collect_block);

  private:
    void collect_block(Frame f) { take_(f[symbols][0]); }

    Take take_;
};

/// Adds the front with a sink behind it.
inline ReceiverFront add_front_into(Graph& graph, io::SampleSource& source, const FrontConfig& config,
                                    SymbolSink::Take take) {
    const ReceiverFront front = add_front(graph, source, config);
    auto& sink = graph.add<SymbolSink>(std::move(take));
    graph.bind(front.timing.symbols, sink.symbols);
    return front;
}

/// The front's output for samples, with its reports.
struct FrontSymbols {
    std::vector<Iq> symbols;
    std::uint64_t restarts = 0;  ///< stretches of adjoining symbols
    std::uint64_t dropped_blocks = 0;
    double frequency = 0;  ///< last one taken out, cycles per symbol
    double clock_ppm = 0;
};

inline FrontSymbols front_symbols(const FrontConfig& config, std::span<const Iq> samples) {
    FrontSymbols made;
    io::MemoryReader source(std::as_bytes(samples), dsp::SampleFormat::cf32, config.sample_rate_hz);
    Graph graph;
    const ReceiverFront front = add_front_into(graph, source, config, [&](const SymbolBlock& block) {
        made.symbols.insert(made.symbols.end(), block.symbols.begin(), block.symbols.begin() + block.count);
        made.restarts += block.restart ? 1U : 0U;
    });
    Sequence(graph).run({.statistics = false});
    made.dropped_blocks = front.coarse.dropped_blocks() + front.timing.dropped_blocks();
    made.frequency = front.coarse.frequency();
    made.clock_ppm = front.timing.clock_ppm();
    return made;
}

}  // namespace tidemill::dvbs2::internal
