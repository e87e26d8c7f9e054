#include "tidemill/dvbs2/transmitter.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dsp/pulse.hpp"

namespace tidemill::dvbs2 {
namespace {

dsp::Interpolator make_shaper(int samples_per_symbol, double rolloff) {
    if (samples_per_symbol < 1 || !(rolloff > 0.0 && rolloff <= 1.0)) {
        throw std::invalid_argument(
            fmt::format("cannot shape {} samples per symbol with roll-off {}: use at least 1, and 0 to 1",
                        samples_per_symbol, rolloff));
    }
    return {PulseShaper::kReachSymbols, static_cast<std::size_t>(samples_per_symbol),
            [rolloff](double t) { return dsp::root_raised_cosine(t, rolloff); }};
}

}  // namespace

PulseShaper::PulseShaper(int samples_per_symbol, double rolloff)
    : interpolator_(make_shaper(samples_per_symbol, rolloff)),
      samples_per_symbol_(static_cast<std::size_t>(samples_per_symbol)),
      symbols_(interpolator_.history()) {}

void PulseShaper::process(std::span<const dsp::Iq> symbols, std::vector<dsp::Iq>& samples) {
    if (samples_per_symbol_ == 1) {
        samples.insert(samples.end(), symbols.begin(), symbols.end());
        return;
    }
    symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
    const std::size_t made = symbols.size() * samples_per_symbol_;
    samples.resize(samples.size() + made);
    interpolator_.process(symbols_, std::span(samples).last(made));
    symbols_.erase(symbols_.begin(), symbols_.end() - static_cast<std::ptrdiff_t>(interpolator_.history()));
}

void PulseShaper::finish(std::vector<dsp::Iq>& samples) {
    if (samples_per_symbol_ > 1) process(std::vector<dsp::Iq>(interpolator_.history()), samples);
}

Transmitter::Transmitter(const TransmitterConfig& config)
    : pls_(config.pls),
      multiplexer_({.plan = {{config.pls}}, .gold_code = config.gold_code, .rolloff = config.rolloff}),
      shaper_(config.samples_per_symbol, config.rolloff) {}

void Transmitter::modulate(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& symbols) {
    multiplexer_.feed(0, packets);
    while (multiplexer_.send(symbols)) {
    }
}

void Transmitter::transmit(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& samples) {
    symbols_.clear();
    modulate(packets, symbols_);
    shaper_.process(symbols_, samples);
}

void Transmitter::finish(std::vector<dsp::Iq>& samples) {
    symbols_.clear();
    while (multiplexer_.send_padded(symbols_)) {
    }
    shaper_.process(symbols_, samples);
    shaper_.finish(samples);
}

}  // namespace tidemill::dvbs2
