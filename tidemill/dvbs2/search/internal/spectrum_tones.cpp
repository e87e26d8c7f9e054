#include "tidemill/dvbs2/search/internal/spectrum_tones.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2::internal {

namespace {

// A tone stands so high over what is around, within the bins that the window smears it over.
constexpr double kTone = 10;
// Weaker by more than this than the strongest bin, it is what eight bits leave of that: 50 dB.
constexpr double kToneRange = 1e-5;
constexpr std::ptrdiff_t kToneSpread = 6, kToneAround = 16;

double around(const ObservedSpectrum& s, std::ptrdiff_t middle) {
    double sum = 0, count = 0;
    for (std::ptrdiff_t k = middle - kToneAround; k <= middle + kToneAround; ++k) {
        if (std::abs(k - middle) <= kToneSpread || k < 0 || k >= s.size()) continue;
        sum += s.power[static_cast<std::size_t>(k)], count += 1;
    }
    return sum / std::max(count, 1.0);
}

}  // namespace

std::vector<SpectrumTone> tones_of(const ObservedSpectrum& s) {
    std::vector<SpectrumTone> tones;
    for (std::ptrdiff_t k = 1; k + 1 < s.size(); ++k) {
        const auto power = [&](std::ptrdiff_t bin) { return s.power[static_cast<std::size_t>(bin)]; };
        if (power(k) < power(k - 1) || power(k) <= power(k + 1) || power(k) < kToneRange * s.strongest)
            continue;
        const SpectrumTone tone{k, power(k), around(s, k)};
        if (tone.power > kTone * tone.around) tones.push_back(tone);
    }
    std::ranges::stable_sort(tones, std::ranges::greater(), &SpectrumTone::power);
    return tones;
}

void take_out(const std::vector<SpectrumTone>& tones, ObservedSpectrum& s) {
    for (const SpectrumTone& tone : tones) {
        const auto first = std::max<std::ptrdiff_t>(0, tone.bin - kToneSpread),
                   last = std::min(s.size() - 1, tone.bin + kToneSpread);
        for (std::ptrdiff_t k = first; k <= last; ++k) {
            double& power = s.power[static_cast<std::size_t>(k)];
            power = std::min(power, tone.around);
        }
    }
}

}  // namespace tidemill::dvbs2::internal
