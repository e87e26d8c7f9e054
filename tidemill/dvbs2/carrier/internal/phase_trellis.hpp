#pragma once

#include <array>
#include <complex>
#include <numbers>
#include <vector>

#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2::internal {

/// Scores of the best paths of a phase to each of its states after each block of powers (Viterbi). Which move
/// was best is found out anew on the way back: so the loop that matters has nothing but additions and maxima.
class PhaseTrellis {
  public:
    /// For powers of an order, of so many blocks; the phase walks by `step_sigma` radians from one to the
    /// next.
    PhaseTrellis(int order, double step_sigma, std::size_t blocks);

    /// Says what a header tells of the phase where the paths are.
    void add_header(const PhaseSample& header);

    /// Goes on by a block; `emission` is its power, scaled so that its real part is a log-likelihood.
    void advance(std::complex<double> emission);

    /// Log-likelihood of the best path, but for a constant.
    double score() const;

    /// Phases of the best path at all blocks, not wrapped.
    std::vector<double> path() const;

  private:
    static constexpr int kStates = 192;  // steps of a full turn: a multiple of every order
    static constexpr double kStep = 2 * std::numbers::pi / kStates;
    static constexpr int kReach = 4;  // steps from block to block at most
    static constexpr std::size_t kRow = kStates + 2 * kReach;

    float* row(std::size_t block) { return scores_.data() + block * kRow; }
    const float* row(std::size_t block) const { return scores_.data() + block * kRow; }
    float penalty_of(int move) const {
        const int column = move + kReach;
        return penalty_[static_cast<std::size_t>(column)];
    }
    int best_state() const;
    int best_move(std::size_t block, int state) const;
    void add_emission(std::complex<float> emission, float* to) const;

    std::size_t done_ = 0;
    std::vector<float> scores_;
    std::array<float, 2 * kReach + 1> penalty_{};
    std::vector<std::complex<float>> turns_;  // what the power of each state within a sector is
};

}  // namespace tidemill::dvbs2::internal
