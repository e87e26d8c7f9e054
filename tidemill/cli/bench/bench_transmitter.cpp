#include "tidemill/cli/bench/bench_transmitter.hpp"

#include <algorithm>
#include <random>

namespace tidemill::cli {

namespace {

constexpr dvbs2::Pls kSent{10, dvbs2::FrameSize::short_, false};  // QPSK 8/9
constexpr int kSamplesPerSymbol = 2;
constexpr double kRolloff = 0.2;

}  // namespace

BenchTransmitter::BenchTransmitter() : modulator_(kSent, 0), shaper_(kSamplesPerSymbol, kRolloff) {
    const std::size_t bytes = modulator_.bbframe_bytes();
    const std::size_t symbols = modulator_.plframe_symbols();
    auto& data = graph_.add(
        task("data", out<std::uint8_t>("bbframe", bytes), [random = std::mt19937(1)](auto bbframe) mutable {
            std::ranges::generate(bbframe, [&] { return static_cast<std::uint8_t>(random()); });
        }));
    auto& modulate = graph_.add(
        task("modulate", pure, in<std::uint8_t>("bbframe", bytes), out<dsp::Iq>("plframe", symbols),
             [this](auto bbframe, auto plframe) { modulator_.modulate(bbframe, plframe); }));
    auto& shape = graph_.add(task("shape", in<dsp::Iq>("plframe", symbols),
                                  out<dsp::Iq>("samples", kSamplesPerSymbol * symbols),
                                  [this](auto plframe, auto samples) {
                                      std::ranges::copy(shaper_.process(plframe), samples.begin());
                                  }));
    auto& send =
        graph_.add(task("send", in<dsp::Iq>("samples", kSamplesPerSymbol * symbols), [this](auto samples) {
            for (const dsp::Iq& sample : samples) energy_ += std::norm(sample);
        }));
    graph_.bind(data["bbframe"], modulate["bbframe"]);
    graph_.bind(modulate["plframe"], shape["plframe"]);
    graph_.bind(shape["samples"], send["samples"]);
}

}  // namespace tidemill::cli
