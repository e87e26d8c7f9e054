#include "tidemill/dvbs2/front/front_spectrum.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <vector>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kSearchStep = 0.01;

// Weakest signal to be found: QPSK 1/4 works down to -2.35 dB (EN 302 307-1, table 13).
constexpr double kWeakestEsn0 = 0.4;
constexpr double kFalseAlarmSigmas = 6.0;

// Power that rounding may leave of samples that are nothing but an offset.
constexpr double kRounding = 1e-5;

// The offset of I and Q is a line at frequency zero, alike at every lag.
dsp::LagCorrelation without_offset(dsp::LagCorrelation chunk, const dsp::IqMoments& moments,
                                   std::size_t lags) {
    const double offset = std::norm(moments.sum) / moments.count;
    const double rest = chunk.power - offset;
    if (rest < kRounding * chunk.power) return {};
    chunk.power = rest;
    for (std::size_t l = 0; l < lags; ++l) chunk.sums[l] -= offset;
    return chunk;
}

// Calls look(number in the block, samples), with the samples before it that its correlation reads.
template <class Sample, class Look>
void for_each_chunk(const FrontGeometry& geometry, std::int64_t block, std::span<Sample> samples,
                    std::uint32_t every, Look look) {
    const std::size_t reach = geometry.lags().reach();
    assert(samples.size() == geometry.history_samples() + geometry.block_samples());
    for (std::size_t c = 0; c < geometry.chunks(); ++c) {
        if ((static_cast<std::uint64_t>(block) * geometry.chunks() + c) % every != 0) continue;
        const std::size_t start = geometry.history_samples() - reach + c * kChunkSamples;
        look(c, samples.subspan(start, kChunkSamples + reach));
    }
}

template <class Sample>
void measure_chunk(const FrontGeometry& geometry, std::span<const Sample> chunk, std::size_t number,
                   BlockSpectrum& spectrum) {
    spectrum.moments[number] = dsp::iq_moments(chunk.first(kChunkSamples));
    spectrum.chunk[number] = without_offset(dsp::lag_correlation(chunk, kChunkSamples, geometry.lags()),
                                            spectrum.moments[number], geometry.lags().count);
}

}  // namespace

BlockSpectrum measure_spectrum(const FrontGeometry& geometry, std::int64_t block, std::span<const Iq> samples,
                               std::uint32_t every) {
    BlockSpectrum spectrum{.block = block, .every = every};
    for_each_chunk(geometry, block, samples, every, [&](std::size_t c, std::span<const Iq> chunk) {
        measure_chunk(geometry, chunk, c, spectrum);
    });
    return spectrum;
}

BlockSpectrum measure_spectrum(const FrontGeometry& geometry, std::int64_t block,
                               std::span<const dsp::Ci8> samples, std::uint32_t every,
                               PulseBlanker& blanker) {
    BlockSpectrum spectrum{.block = block, .every = every};
    for_each_chunk(geometry, block, samples, every, [&](std::size_t c, std::span<const dsp::Ci8> chunk) {
        if (blanker.leaves_alone(chunk)) return measure_chunk(geometry, chunk, c, spectrum);
        std::vector<Iq> blanked(chunk.size());
        dsp::convert_samples(dsp::SampleFormat::ci8, std::as_bytes(chunk), blanked);
        blanker.blank(blanked);
        measure_chunk(geometry, std::span<const Iq>(blanked), c, spectrum);
    });
    return spectrum;
}

void copy_chunks(const FrontGeometry& geometry, std::int64_t block, std::span<const Iq> samples,
                 std::uint32_t every, std::span<Iq> copy) {
    for_each_chunk(geometry, block, samples, every, [&](std::size_t, std::span<const Iq> chunk) {
        dsp::copy_samples(chunk, copy.subspan(static_cast<std::size_t>(chunk.data() - samples.data())));
    });
}

void blank_chunks(const FrontGeometry& geometry, std::int64_t block, std::span<Iq> samples,
                  std::uint32_t every, PulseBlanker& blanker) {
    for_each_chunk(geometry, block, samples, every,
                   [&](std::size_t, std::span<Iq> chunk) { blanker.blank(chunk); });
}

void SpectrumSum::scale(double factor) {
    chunks *= factor;
    scale_power(factor);
}

void SpectrumSum::scale_power(double factor, dsp::LagCorrelation& chunk) {
    chunk.power *= factor;
    for (auto& lag : chunk.sums) lag *= factor;
}

void SpectrumSum::add(const dsp::LagCorrelation& chunk) {
    if (chunk.power <= 0.0) return;  // silence says nothing
    chunks += 1.0;
    lags.power += chunk.power;
    for (std::size_t l = 0; l < dsp::kMaxLags; ++l) lags.sums[l] += chunk.sums[l];
}

SpectrumFit::SpectrumFit(const FrontGeometry& geometry)
    : lags_(geometry.lags()),
      samples_per_symbol_(geometry.samples_per_symbol()),
      rolloff_(geometry.rolloff()),
      chunk_symbols_(kChunkSamples / samples_per_symbol_) {
    for (std::size_t l = 0; l < lags_.count; ++l) {
        pulse_[l] = dsp::raised_cosine(static_cast<double>(lags_.lag(l)) / samples_per_symbol_, rolloff_);
        pulse_energy_ += pulse_[l] * pulse_[l];
    }
}

double SpectrumFit::match(const SpectrumSum& sum, double frequency) const {
    const auto turn_by = [&](std::size_t samples) {
        return std::polar(1.0, -2.0 * kPi * frequency * static_cast<double>(samples) / samples_per_symbol_);
    };
    std::complex<double> oscillator = turn_by(lags_.first);
    const std::complex<double> turn = turn_by(lags_.spacing);
    double total = 0.0;
    for (std::size_t l = 0; l < lags_.count; ++l, oscillator = dsp::product(oscillator, turn))
        total += pulse_[l] * dsp::product(sum.lags.sums[l], oscillator).real();
    return total;
}

double SpectrumFit::share_at(const SpectrumSum& sum, double frequency) const {
    return sum.lags.power > 0.0 ? match(sum, frequency) / (sum.lags.power * pulse_energy_) : 0.0;
}

SpectrumFit::Best SpectrumFit::best(const SpectrumSum& sum, double low, double high) const {
    double frequency = low, most = match(sum, low);
    for (double f = low + kSearchStep; f <= high; f += kSearchStep) {
        if (const double m = match(sum, f); m > most) frequency = f, most = m;
    }
    for (const double h : {kSearchStep, kSearchStep / 3, kSearchStep / 10}) {
        const double left = match(sum, frequency - h), right = match(sum, frequency + h),
                     middle = match(sum, frequency);
        const double curvature = left - 2.0 * middle + right;
        if (curvature < 0.0) frequency += std::clamp(0.5 * (left - right) / curvature, -1.0, 1.0) * h;
    }
    return {frequency, share_at(sum, frequency)};
}

double SpectrumFit::threshold(double chunks) const {
    const double weakest = 1.0 / (1.0 + samples_per_symbol_ / kWeakestEsn0);
    const double noise = 1.0 / std::sqrt(2.0 * chunks * kChunkSamples * pulse_energy_);
    return std::max(0.5 * weakest, kFalseAlarmSigmas * noise);
}

// The fit's variance is the integral of (S + N0)^2 S'^2 over the symbols times that of S'^2 squared, where S
// is the raised-cosine spectrum; in closed form for its two edges:
double SpectrumFit::variance_per_symbol(double share) const {
    const double n0 = std::max(0.0, (1.0 / std::max(share, 1e-3) - 1.0) / samples_per_symbol_);
    const double slope = kPi * kPi / (4.0 * rolloff_);
    return (0.3125 + n0 + n0 * n0) / slope;
}

double SpectrumFit::symbols_for(double deviation, double share) const {
    return variance_per_symbol(share) / (deviation * deviation);
}

double SpectrumFit::deviation(const SpectrumSum& sum, double share) const {
    return std::sqrt(variance_per_symbol(share) / (sum.chunks * chunk_symbols_));
}

}  // namespace tidemill::dvbs2
