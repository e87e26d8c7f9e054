#include "tidemill/dvbs2/send/pulse_shaper.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {
namespace {

dsp::Interpolator make_shaper(int samples_per_symbol, double rolloff) {
    if (samples_per_symbol < 1 || !(rolloff > 0.0 && rolloff <= 1.0)) {
        throw Dvbs2Error(
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
      last_(interpolator_.history()) {}

void PulseShaper::shape(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
                        std::span<dsp::Iq> samples) const {
    assert(samples.size() == symbols.size() * samples_per_symbol_);
    in_pieces(before, symbols, [&](std::span<const dsp::Iq> some, std::size_t done) {
        fill(some,
             samples.subspan(done * samples_per_symbol_, (some.size() - history()) * samples_per_symbol_));
    });
}

void PulseShaper::fill(std::span<const dsp::Iq> symbols, std::span<dsp::Iq> samples) const {
    if (samples_per_symbol_ == 1) {
        std::ranges::copy(symbols, samples.begin());
    } else {
        interpolator_.process(symbols, samples);
    }
}

std::span<const float> PulseShaper::taps() const {
    return samples_per_symbol_ == 1 ? std::span<const float>() : interpolator_.taps();
}

std::span<const dsp::Iq> PulseShaper::process(std::span<const dsp::Iq> symbols) {
    if (samples_per_symbol_ == 1) return symbols;
    const std::size_t made = symbols.size() * samples_per_symbol_;
    samples_.resize(std::max(samples_.size(), made));
    const auto samples = std::span(samples_).first(made);
    shape(last_, symbols, samples);
    const auto kept = symbols.last(std::min(last_.size(), symbols.size()));
    std::shift_left(last_.begin(), last_.end(), static_cast<std::ptrdiff_t>(kept.size()));
    std::ranges::copy(kept, last_.end() - static_cast<std::ptrdiff_t>(kept.size()));
    return samples;
}

std::span<const dsp::Iq> PulseShaper::finish() {
    if (samples_per_symbol_ == 1) return {};
    return process(std::vector<dsp::Iq>(history()));
}

}  // namespace tidemill::dvbs2
