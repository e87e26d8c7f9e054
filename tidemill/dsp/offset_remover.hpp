#pragma once

#include <complex>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Takes the offset of I and Q (DC) out of a stream: the mean of all samples at first, then of the latest.
class OffsetRemover {
  public:
    void process(std::span<Iq> samples);

  private:
    std::complex<double> offset_{};
    double samples_ = 0;  // that it was measured over
};

}  // namespace tidemill::dsp
