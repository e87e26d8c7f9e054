#include "tidemill/dvbs2/transmitter.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dsp/pulse.hpp"

namespace tidemill::dvbs2 {
namespace {

dsp::Interpolator make_shaper(int samples_per_symbol, double rolloff) {
    if (samples_per_symbol < 2 || !(rolloff > 0.0 && rolloff <= 1.0)) {
        throw std::invalid_argument(
            fmt::format("cannot shape {} samples per symbol with roll-off {}: use at least 2, and 0 to 1",
                        samples_per_symbol, rolloff));
    }
    return {PulseShaper::kReachSymbols, static_cast<std::size_t>(samples_per_symbol),
            [rolloff](double t) { return dsp::root_raised_cosine(t, rolloff); }};
}

BbHeader header_for(double rolloff) {
    constexpr std::array<double, 3> kRolloffs = {0.35, 0.25, 0.20};  // EN 302 307-1, 5.1.6, by code
    for (std::uint8_t code = 0; code < kRolloffs.size(); ++code) {
        if (std::abs(rolloff - kRolloffs[code]) < 1e-6) {
            BbHeader header;
            header.rolloff_code = code;
            return header;
        }
    }
    throw std::invalid_argument(fmt::format("roll-off {} does not exist: use 0.35, 0.25 or 0.20", rolloff));
}

}  // namespace

PulseShaper::PulseShaper(int samples_per_symbol, double rolloff)
    : interpolator_(make_shaper(samples_per_symbol, rolloff)),
      samples_per_symbol_(static_cast<std::size_t>(samples_per_symbol)),
      symbols_(interpolator_.history()) {}

void PulseShaper::process(std::span<const dsp::Iq> symbols, std::vector<dsp::Iq>& samples) {
    symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
    const std::size_t made = symbols.size() * samples_per_symbol_;
    samples.resize(samples.size() + made);
    interpolator_.process(symbols_, std::span(samples).last(made));
    symbols_.erase(symbols_.begin(), symbols_.end() - static_cast<std::ptrdiff_t>(interpolator_.history()));
}

void PulseShaper::finish(std::vector<dsp::Iq>& samples) {
    process(std::vector<dsp::Iq>(interpolator_.history()), samples);
}

Transmitter::Transmitter(const TransmitterConfig& config)
    : modulator_(config.pls, config.gold_code),
      packer_(header_for(config.rolloff)),
      shaper_(config.samples_per_symbol, config.rolloff),
      bbframe_(modulator_.bbframe_bytes()) {}

void Transmitter::modulate_frame(std::vector<dsp::Iq>& symbols) {
    symbols.resize(symbols.size() + modulator_.plframe_symbols());
    modulator_.modulate(bbframe_, std::span(symbols).last(modulator_.plframe_symbols()));
    ++frames_;
}

void Transmitter::modulate(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& symbols) {
    packer_.feed(packets);
    while (packer_.next(bbframe_)) {
        modulate_frame(symbols);
    }
}

void Transmitter::transmit(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& samples) {
    symbols_.clear();
    modulate(packets, symbols_);
    shaper_.process(symbols_, samples);
}

void Transmitter::finish(std::vector<dsp::Iq>& samples) {
    symbols_.clear();
    while (packer_.finish(bbframe_)) {
        modulate_frame(symbols_);
    }
    shaper_.process(symbols_, samples);
    shaper_.finish(samples);
}

}  // namespace tidemill::dvbs2
