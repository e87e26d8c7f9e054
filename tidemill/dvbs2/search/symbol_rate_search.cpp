#include "tidemill/dvbs2/search/symbol_rate_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "tidemill/dsp/fft.hpp"
#include "tidemill/dsp/stretch_spectra.hpp"
#include "tidemill/dvbs2/search/internal/unknown_pulses.hpp"

namespace tidemill::dvbs2 {

namespace {

using dsp::Iq;

constexpr std::size_t kFewestSamples = 4096;
constexpr double kLowest = 1.0 / 16;
constexpr double kBeyond = 140e-6;           // so far beyond that a receiver of two samples a symbol follows
constexpr std::size_t kLineBins = 4;         // to either side, that belong to one line
constexpr std::size_t kNeighbourBins = 256;  // whose mean says what is usual here
constexpr double kClear = 14;  // times the usual power: among 2^19 bins of noise, 13 is the largest

// Without pulses, and so that no float overflows or vanishes in what is made of powers of powers.
std::vector<Iq> at_power_1(std::span<const Iq> samples) {
    std::vector<Iq> scaled(samples.begin(), samples.end());
    internal::blank_unknown_pulses(scaled);
    double power = 0;
    for (const Iq& sample : scaled) power += std::norm(std::complex<double>(sample));
    const auto gain =
        static_cast<float>(power > 0 ? std::sqrt(static_cast<double>(samples.size()) / power) : 0);
    for (Iq& sample : scaled) sample *= gain;
    return scaled;
}

// The spectrum of the signal's power, at twice the sample rate: the line of two samples a symbol would lie on
// the edge otherwise, where its phase decides whether there is anything to see.
std::vector<Iq> power_spectrum(std::span<const Iq> samples) {
    const std::size_t count = samples.size();
    std::vector<Iq> x = at_power_1(samples);
    dsp::fft(x);
    x.resize(2 * count);
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(count / 2),
              x.begin() + static_cast<std::ptrdiff_t>(count),
              x.begin() + static_cast<std::ptrdiff_t>(count + count / 2));
    std::fill(x.begin() + static_cast<std::ptrdiff_t>(count / 2),
              x.begin() + static_cast<std::ptrdiff_t>(count + count / 2), Iq(0));
    dsp::Fft twice(2 * count);
    twice.inverse(x);
    const float scale = 1 / static_cast<float>(count);
    for (Iq& value : x) value = std::norm(value * scale);
    twice.forward(x);
    return x;
}

struct Line {
    double place;      // in bins
    double clearness;  // power over that of its neighbours
};

// Between bins, by the parabola through the magnitudes.
double place_of(std::span<const float> power, std::size_t k) {
    const double left = std::sqrt(power[k - 1]), middle = std::sqrt(power[k]),
                 right = std::sqrt(power[k + 1]);
    const double bend = left - 2 * middle + right;
    return static_cast<double>(k) + (bend < 0 ? 0.5 * (left - right) / bend : 0);
}

// Lines from the one bin to the other.
std::vector<Line> lines_of(std::span<const float> power, std::size_t first, std::size_t last) {
    std::vector<double> sums(power.size() + 1);
    for (std::size_t k = 0; k < power.size(); ++k) sums[k + 1] = sums[k] + power[k];
    std::vector<Line> lines;
    for (std::size_t k = std::max(first, kNeighbourBins); k <= last && k + kNeighbourBins < power.size();
         ++k) {
        const auto around = power.subspan(k - kLineBins, 2 * kLineBins + 1);
        if (power[k] < *std::ranges::max_element(around)) continue;
        const double usual = (sums[k + kNeighbourBins] - sums[k - kNeighbourBins]) / (2 * kNeighbourBins);
        const double clearness = power[k] / usual;
        if (clearness > kClear) lines.push_back({place_of(power, k), clearness});
    }
    return lines;
}

// Share of the power's spectrum that is looked at to either side of the rate, which leaves an eighth of the
// rate.
constexpr double kNearPass = 0.03;
constexpr std::size_t kNearDecimation = 8, kNearBins = 4096;

// The power without its mean, which is no rate.
std::vector<Iq> changing_power(std::span<const Iq> samples) {
    std::vector<Iq> power = at_power_1(samples);
    for (Iq& sample : power) sample = std::norm(sample) - 1;
    return power;
}

}  // namespace

std::optional<PulsingRate> symbol_rate_near(std::span<const Iq> samples, double near, double tolerance) {
    if (samples.size() < kFewestSamples) return std::nullopt;
    samples = samples.first(std::min(samples.size(), kSymbolRateSearchSamples));
    dsp::StretchSpectra stretches(kNearBins);
    dsp::SpectrumBand band({.bins = kNearBins,
                            .offset = near,
                            .pass = kNearPass,
                            .stop = 1.0 / kNearDecimation - kNearPass,
                            .decimation = kNearDecimation});
    dsp::AlignedVector<Iq> spectra;
    stretches.process(changing_power(samples), spectra);
    stretches.finish(spectra);
    std::vector<Iq> around;
    for (std::size_t at = 0; at < spectra.size(); at += kNearBins)
        band.process(std::span(spectra).subspan(at, kNearBins), around);
    around.resize(std::bit_ceil(around.size()));
    dsp::fft(around);

    // From the lowest frequency on, with the rate that is expected in the middle.
    const std::size_t half = around.size() / 2;
    std::vector<float> power;
    for (std::size_t k = 0; k < around.size(); ++k)
        power.push_back(std::norm(around[(k + half) % around.size()]));
    const double bins = static_cast<double>(around.size() * kNearDecimation);
    const double middle = static_cast<double>(half) + band.place_of(near) / kNearDecimation * bins;
    const auto lines = lines_of(power, static_cast<std::size_t>(middle - tolerance * near * bins),
                                static_cast<std::size_t>(middle + tolerance * near * bins));
    if (lines.empty()) return std::nullopt;
    const Line& clearest = *std::ranges::max_element(lines, {}, &Line::clearness);
    return PulsingRate{near + (clearest.place - middle) / bins, clearest.clearness};
}

std::vector<double> likely_symbol_rates(std::span<const Iq> samples, std::size_t most, double highest) {
    if (samples.size() < kFewestSamples) return {};
    const std::size_t count = std::bit_floor(std::min(samples.size(), kSymbolRateSearchSamples));
    const std::vector<Iq> spectrum = power_spectrum(samples.first(count));
    std::vector<float> power;
    for (std::size_t k = 0; k < spectrum.size() / 2; ++k) power.push_back(std::norm(spectrum[k]));
    // The spectrum reaches to twice the sample rate in twice the samples.
    const auto bins = static_cast<double>(count);
    std::vector<Line> lines = lines_of(power, static_cast<std::size_t>(kLowest * bins) - kLineBins,
                                       static_cast<std::size_t>(highest * (1 + kBeyond) * bins) + kLineBins);
    std::ranges::sort(lines, std::ranges::greater(), &Line::clearness);
    std::vector<double> rates;
    for (const Line& line : lines) {
        // A little beyond the edge is the edge: half is what the receiver takes at the most.
        if (rates.size() < most) rates.push_back(std::clamp(line.place / bins, kLowest, highest));
    }
    return rates;
}

}  // namespace tidemill::dvbs2
