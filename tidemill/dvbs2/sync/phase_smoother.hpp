#pragma once

#include <span>
#include <vector>

namespace tidemill::dvbs2 {

/// One look at a phase: where (symbols), what (radians, not wrapped), how sure (radians squared).
struct PhaseSample {
    double place = 0;
    double phase = 0;
    double variance = 1;
};

/// Follows a wandering phase through noisy looks at it: a two-way Kalman smoother whose speed of wandering is
/// the most likely one of a few, from none to 40 degrees in 1000 symbols.
class PhaseSmoother {
  public:
    /// Replaces the phases of `samples`, which are in order of their places, by smooth ones.
    void smooth(std::span<PhaseSample> samples);

    /// Variance of the phase's random walk per symbol that smooth() chose.
    double walk() const { return walk_; }

  private:
    double filter(std::span<const PhaseSample> samples, double walk);

    std::vector<double> mean_, variance_;
    double walk_ = 0;
};

}  // namespace tidemill::dvbs2
