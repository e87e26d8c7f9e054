#pragma once

#include <array>
#include <complex>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Carrier frequency from blocks of known symbols, each with a phase of its own: the maximum-likelihood
/// estimate, from sums over all blocks that may be forgotten slowly.
class FrequencyEstimator {
  public:
    /// Starts from a frequency (cycles per symbol) that is right within 0.02.
    explicit FrequencyEstimator(double frequency = 0) : frequency_(frequency) {}

    /// Takes one block of at most 90 symbols, and the conjugates of what was sent, of unit energy.
    void add(std::span<const dsp::Iq> received, std::span<const dsp::Iq> references);
    /// The same of their products, turned back by frequency().
    void add_products(std::span<const dsp::Iq> products);

    /// Takes what another one learned at the same frequency.
    void add(const FrequencyEstimator& other);

    /// Scales what was learned so far by a factor in [0, 1].
    void forget(double factor);

    /// Move of the estimate that would fit best what was learned.
    double offset() const;

    /// Moves the estimate.
    void move(double by);

    /// Moves the estimate, and what was learned with it: the carrier itself has moved.
    void follow(double by) { frequency_ += by; }

    /// Cycles per symbol.
    double frequency() const { return frequency_; }

    /// Expected error of frequency() in cycles per symbol, given the symbols' Es/N0 (linear).
    double sigma(double esn0) const;

  private:
    static constexpr std::size_t kStep = 6;  // symbols added up before correlating
    static constexpr std::size_t kLags = 15;
    using LagSums = std::array<std::complex<double>, kLags>;

    static void turn(LagSums& sums, double angle);
    void add_lags(std::span<const std::complex<double>> parts);

    double frequency_;
    double cubes_ = 0;  // sum of the cubes of the blocks' lengths: their weight for a frequency
    LagSums lag_sums_{};
};

}  // namespace tidemill::dvbs2
