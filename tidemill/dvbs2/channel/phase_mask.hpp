#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemill::dvbs2 {

/// A point of a mask of phase noise: its single-sideband density at so far from the carrier, in dB for a
/// bandwidth of one symbol rate; straight between points in the logarithm of the frequency, none outside.
struct PhaseMaskPoint {
    double cycles_per_symbol = 0.0;
    double density_db = 0.0;
};

/// Phase noise of a mask, made in its spectrum: it repeats after kPeriod samples.
class PhaseMaskNoise {
  public:
    static constexpr std::size_t kPeriod = std::size_t{1} << 22;

    /// Takes points in the order of their frequencies.
    PhaseMaskNoise(std::span<const PhaseMaskPoint> mask, double samples_per_symbol, std::uint64_t seed);

    /// The phase of a sample in radians.
    double at(std::uint64_t sample) const { return double{phases_[sample % kPeriod]}; }

  private:
    std::vector<float> phases_;
};

}  // namespace tidemill::dvbs2
