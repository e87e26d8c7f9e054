#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/front/front_spectrum.hpp"

namespace tidemill::dvbs2 {

/// Keeps a carrier in the middle of the filters before a receiver, however far it drifts in hours: measures
/// where its spectrum lies among the tuned samples, and says how far the oscillator has to be from where it
/// was laid. That moves no faster than what stands behind follows unharmed, and stands still as long as the
/// carrier is near.
class CarrierFollower {
  public:
    CarrierFollower(double rolloff, double samples_per_symbol);

    /// Takes the next samples, of which few are looked at.
    void add(std::span<const Iq> samples);

    /// Cycles per symbol, counted from where the oscillator was laid.
    double correction() const { return correction_; }

  private:
    void look_at(std::span<const Iq> samples);
    void measure();

    FrontGeometry geometry_;
    SpectrumFit fit_;
    dsp::AlignedVector<Iq> window_;  // a block of some chunks, with its history
    std::size_t filled_ = 0;
    std::uint64_t to_skip_ = 0;
    SpectrumSum sum_{};
    double correction_ = 0;
    double drift_ = 0;  // of it, per symbol; 0: it stands still
};

}  // namespace tidemill::dvbs2
