#pragma once

#include <complex>
#include <span>
#include <vector>

namespace tidemill::dvbs2::internal {

/// The M-th powers of neighbouring symbols, added up: they have lost most of the data, and turn M times as
/// fast as the carrier.
struct PowerBlock {
    double place = 0;  // middle, in symbols from the frame's start
    std::complex<double> sum{};
};

/// Components of a block's sum.
struct PowerStatistics {
    double signal = 0;  // length of what points with the carrier
    double noise = 0;   // mean square of the rest
};

/// The statistics of blocks of this mean energy, `power` of it the carrier's.
PowerStatistics statistics_of(double energy, double power);

/// The statistics of blocks from which all but a wandering phase has been removed.
PowerStatistics statistics_of_straight(std::span<const PowerBlock> blocks);

/// How well evenly spaced blocks agree with their neighbours. Those far apart are not compared: what a noisy
/// carrier does between them, no offset predicts.
class BlockAgreement {
  public:
    BlockAgreement(std::span<const PowerBlock> blocks, int order);

    /// Weighted sum of the pairs' products when an offset (cycles per symbol) is removed from the blocks.
    double at(double offset) const;

    /// Log-likelihood of such a sum against noise alone, when carriers of so much `power` are expected.
    double likelihood(double agreed, double power) const;

    /// The carrier's mean square in a block, if it is this that makes the sum.
    double power(double agreed) const;

    /// A block's mean square.
    double energy() const { return energy_; }

  private:
    void add_lag(std::span<const PowerBlock> blocks, std::size_t lag, double weight);

    double energy_;
    double turn_;
    std::vector<std::complex<double>> lag_sums_;  // of lags from 1 on
    double pairs_ = 0;
    double noise_pairs_ = 0;
};

/// From the first block's middle to the last one's, in symbols.
inline double span_of(std::span<const PowerBlock> blocks) {
    return blocks.back().place - blocks.front().place;
}

}  // namespace tidemill::dvbs2::internal
