#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Halves the rate of an endless stream, which is preceded by silence. Every other tap but the middle one of
/// such a filter is zero, so that it costs half of what its length says.
class HalfBand {
  public:
    /// Keeps frequencies up to `pass` cycles per input sample (below 1/4), and attenuates by `stop_db` what
    /// would fold onto them.
    HalfBand(double pass, double stop_db);

    /// Appends one output for every two inputs, those of earlier calls included.
    void process(std::span<const Iq> in, AlignedVector<Iq>& out);

    /// Input samples by which an output comes late.
    std::size_t delay() const { return taps_.size() - 1; }

  private:
    std::vector<float> taps_;  // of the even samples
    AlignedVector<Iq> even_{};
    AlignedVector<Iq> odd_{};
    std::vector<Iq> left_{};  // a sample that waits for its neighbour
};

}  // namespace tidemill::dsp
