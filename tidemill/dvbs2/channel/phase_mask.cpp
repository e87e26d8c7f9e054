#include "tidemill/dvbs2/channel/phase_mask.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/fft.hpp"
#include "tidemill/dsp/gaussian_noise.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::uint64_t kMaskSeed = 0x6d61736b;  // sets phase noise apart from the other

// Power per cycle per symbol.
double density_at(std::span<const PhaseMaskPoint> mask, double frequency) {
    const auto next = std::ranges::lower_bound(mask, frequency, {}, &PhaseMaskPoint::cycles_per_symbol);
    if (next == mask.end() || (next == mask.begin() && frequency < next->cycles_per_symbol)) return 0;
    if (next == mask.begin()) return std::pow(10, next->density_db / 10);
    const PhaseMaskPoint &low = *(next - 1), &high = *next;
    const double way = std::log(frequency / low.cycles_per_symbol) /
                       std::log(high.cycles_per_symbol / low.cycles_per_symbol);
    return std::pow(10, std::lerp(low.density_db, high.density_db, way) / 10);
}

}  // namespace

// Both sidebands together make the phase: of a line, the real part of a complex number that turns has half of
// its power.
PhaseMaskNoise::PhaseMaskNoise(std::span<const PhaseMaskPoint> mask, double samples_per_symbol,
                               std::uint64_t seed)
    : phases_(kPeriod) {
    const double step = samples_per_symbol / static_cast<double>(kPeriod);
    dsp::AlignedVector<dsp::Iq> spectrum(kPeriod);
    for (std::size_t k = 1; k < kPeriod / 2; ++k) {
        const double power = 4 * step * density_at(mask, static_cast<double>(k) * step);
        if (power > 0)
            spectrum[k] = static_cast<float>(std::sqrt(power)) * dsp::gaussian_noise_at(seed ^ kMaskSeed, k);
    }
    dsp::inverse_fft(spectrum);
    std::ranges::transform(spectrum, phases_.begin(), [](dsp::Iq x) { return x.real(); });
}

}  // namespace tidemill::dvbs2
