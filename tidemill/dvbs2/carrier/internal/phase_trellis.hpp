#pragma once

#include <complex>
#include <numbers>
#include <vector>

#include "tidemill/dvbs2/carrier/internal/trellis_step.hpp"
#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2::internal {

/// Scores of the best paths of a phase to each of its states after each block of powers (Viterbi). Which move
/// was best is found out anew on the way back: so the loop that matters has nothing but additions and maxima.
class PhaseTrellis {
  public:
    /// Begins anew, for powers of an order, of so many blocks; the phase walks by `step_sigma` radians from
    /// one to the next.
    void begin(int order, double step_sigma, std::size_t blocks);

    /// Adds a header's information on the phase where the paths are.
    void add_header(const PhaseSample& header);

    /// Goes on by a block; `emission` is its power, scaled so that its real part is a log-likelihood.
    void advance(std::complex<double> emission);

    /// Log-likelihood of the best path, but for a constant.
    double score() const;

    /// Writes the phases of the best path at all blocks, not wrapped.
    void path(std::vector<double>& phases) const;

  private:
    static constexpr double kStep = 2 * std::numbers::pi / kPhaseStates;
    static constexpr std::size_t kRow = kPhaseStates + 2 * kPhaseReach;

    float* row(std::size_t block) { return scores_.data() + block * kRow; }
    const float* row(std::size_t block) const { return scores_.data() + block * kRow; }
    static std::size_t steps_for(double step_sigma);
    void turn_by(int order);
    void advance_row(std::complex<float> emission);
    int best_state() const;
    int best_move(std::size_t block, int state) const;

    static constexpr double kMostSteps = 6;  // at which a phase walks by half a radian from block to block

    std::size_t steps_ = 1;  // from block to block
    std::size_t done_ = 0;   // of all blocks
    std::vector<float> scores_;
    MovePenalties penalties_{};
    int order_ = 0;
    PerState turn_re_{}, turn_im_{};  // what the power of each state is
};

}  // namespace tidemill::dvbs2::internal
