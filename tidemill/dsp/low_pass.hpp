#pragma once

#include <cstddef>

namespace tidemill::dsp {

/// A low-pass filter of unit gain by Kaiser's window (Kaiser 1974): it passes frequencies up to `pass` and
/// keeps those from `stop` on at least `stop_db` down. Frequencies in cycles per sample, 0 < pass < stop.
class LowPass {
  public:
    LowPass(double pass, double stop, double stop_db);

    /// The impulse response at `t` samples from its middle; zero beyond reach().
    double operator()(double t) const;
    /// Samples to either side of the middle that matter.
    std::size_t reach() const { return reach_; }

  private:
    double cutoff_;
    double beta_;
    double window_;  // in the middle, before it is brought to one
    std::size_t reach_;
};

}  // namespace tidemill::dsp
