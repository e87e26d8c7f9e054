#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::cli {

/// The power of a signal in samples that may hold noise or nothing before it, behind it, or between its
/// bursts: that of the stretches whose power is at least half of what is found so. Of the loudest fiftieth of
/// all stretches it begins.
class SignalLevel {
  public:
    /// More samples.
    void take(std::span<const dsp::Iq> samples);

    /// 0 where there is nothing but silence.
    double power() const;

  private:
    static constexpr std::size_t kStretchSamples = 1024;

    void end_stretch();

    std::vector<double> powers_;  // of the stretches
    double sum_ = 0;              // of the one that is not whole yet
    std::size_t count_ = 0;
};

}  // namespace tidemill::cli
