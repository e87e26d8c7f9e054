#pragma once

#include <array>
#include <complex>

namespace tidemill::dvbs2::internal {

/// Steps of a full turn of the phase: a multiple of every order.
inline constexpr int kPhaseStates = 192;
/// Steps from block to block at most.
inline constexpr int kPhaseReach = 4;

/// Penalty of a move of 0, 1, ... steps to either side, as a log-likelihood. steps to either side costs, as a
/// log-likelihood.
using MovePenalties = std::array<float, kPhaseReach + 1>;

/// Something for each state.
using PerState = std::array<float, kPhaseStates>;

/// A step of the trellis: to[s] becomes the largest of from[s - move] + penalties[|move|] over all moves, and
/// Re(emission * conj(turn[s])) on top. `from` has kPhaseReach scores before the first and behind the last
/// state. The same bits on every instruction set.
void trellis_step(const float* from, const MovePenalties& penalties, std::complex<float> emission,
                  const PerState& turn_re, const PerState& turn_im, float* to);

}  // namespace tidemill::dvbs2::internal
