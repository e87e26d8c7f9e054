#include "tidemill/dvbs2/send/pulse_shaper.hpp"

#include <algorithm>
#include <array>
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

// The first ones need those before beside them; all others have them there already.
void PulseShaper::shape(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
                        std::span<dsp::Iq> samples) const {
    assert(before.size() == history() && samples.size() == symbols.size() * samples_per_symbol_);
    if (samples_per_symbol_ == 1) {
        std::ranges::copy(symbols, samples.begin());
        return;
    }
    const std::size_t first = std::min(before.size(), symbols.size());
    std::array<dsp::Iq, 4 * kReachSymbols> seam;
    std::ranges::copy(before, seam.begin());
    std::ranges::copy(symbols.first(first), seam.begin() + static_cast<std::ptrdiff_t>(before.size()));
    interpolator_.process(std::span(seam).first(before.size() + first),
                          samples.first(first * samples_per_symbol_));
    if (first == before.size()) interpolator_.process(symbols, samples.subspan(first * samples_per_symbol_));
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
