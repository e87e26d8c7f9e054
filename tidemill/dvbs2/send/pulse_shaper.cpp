#include "tidemill/dvbs2/send/pulse_shaper.hpp"

#include <algorithm>

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

std::span<const dsp::Iq> PulseShaper::process(std::span<const dsp::Iq> symbols) {
    if (samples_per_symbol_ == 1) return symbols;
    const std::size_t made = symbols.size() * samples_per_symbol_;
    samples_.resize(std::max(samples_.size(), made));
    const auto samples = std::span(samples_).first(made);
    // The first ones need those before beside them; all others have them there already.
    const std::size_t history = interpolator_.history();
    const std::size_t first = std::min(history, symbols.size());
    last_.insert(last_.end(), symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(first));
    interpolator_.process(last_, samples.first(first * samples_per_symbol_));
    if (first == history) {
        interpolator_.process(symbols, samples.subspan(first * samples_per_symbol_));
        last_.assign(symbols.end() - static_cast<std::ptrdiff_t>(history), symbols.end());
    } else {
        last_.erase(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return samples;
}

std::span<const dsp::Iq> PulseShaper::finish() {
    if (samples_per_symbol_ == 1) return {};
    return process(std::vector<dsp::Iq>(interpolator_.history()));
}

}  // namespace tidemill::dvbs2
