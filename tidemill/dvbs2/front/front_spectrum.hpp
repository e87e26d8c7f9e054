#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/front/pulse_blanker.hpp"

namespace tidemill::dvbs2 {

/// Lag correlations of one chunk in `every` of block `block`; `samples` are its history and itself.
/// Stateless.
BlockSpectrum measure_spectrum(const FrontGeometry& geometry, std::int64_t block, std::span<const Iq> samples,
                               std::uint32_t every);
/// The same of bytes, in which pulses are zeroed before.
BlockSpectrum measure_spectrum(const FrontGeometry& geometry, std::int64_t block,
                               std::span<const dsp::Ci8> samples, std::uint32_t every, PulseBlanker& blanker);

/// Copies what measure_spectrum() would look at to the same places.
void copy_chunks(const FrontGeometry& geometry, std::int64_t block, std::span<const Iq> samples,
                 std::uint32_t every, std::span<Iq> copy);

/// Zeroes the pulses in what measure_spectrum() would look at.
void blank_chunks(const FrontGeometry& geometry, std::int64_t block, std::span<Iq> samples,
                  std::uint32_t every, PulseBlanker& blanker);

/// Correlations added up over some chunks, silent ones left out.
struct SpectrumSum {
    dsp::LagCorrelation lags{};
    double chunks = 0;

    void scale(double factor);
    /// As if all had been so much stronger.
    void scale_power(double factor) { scale_power(factor, lags); }
    static void scale_power(double factor, dsp::LagCorrelation& chunk);
    void add(const dsp::LagCorrelation& chunk);
};

/// Compares correlations with those of the raised-cosine spectrum that a signal must have: white noise has
/// none, and the fit leans on the steep band edges, so the data's own noise hardly disturbs it. All
/// frequencies are in cycles per symbol; a share is that of the received power which has the signal's
/// spectrum, 0 to 1.
class SpectrumFit {
  public:
    struct Best {
        double frequency;
        double share;
    };

    explicit SpectrumFit(const FrontGeometry& geometry);

    /// How much of the signal's spectrum there is at a frequency, in the units of the correlations.
    double match(const SpectrumSum& sum, double frequency) const;
    /// The share that lies at a frequency.
    double share_at(const SpectrumSum& sum, double frequency) const;
    /// Where from `low` to `high` it is largest.
    Best best(const SpectrumSum& sum, double low, double high) const;

    /// The least share that is a signal: half of what the weakest would show, but out of reach of noise over
    /// so few chunks.
    double threshold(double chunks) const;
    /// Symbols after which the frequency's standard deviation has fallen to `deviation`.
    double symbols_for(double deviation, double share) const;
    /// That of the best fit to these chunks.
    double deviation(const SpectrumSum& sum, double share) const;

    double chunk_symbols() const { return chunk_symbols_; }

  private:
    double variance_per_symbol(double share) const;

    dsp::LagSet lags_;
    double samples_per_symbol_;
    double rolloff_;
    double chunk_symbols_;
    std::array<double, dsp::kMaxLags> pulse_{};
    double pulse_energy_ = 0.0;
};

}  // namespace tidemill::dvbs2
