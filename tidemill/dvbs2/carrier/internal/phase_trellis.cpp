#include "tidemill/dvbs2/carrier/internal/phase_trellis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemill::dvbs2::internal {

PhaseTrellis::PhaseTrellis(int order, double step_sigma, std::size_t blocks) : scores_((blocks + 1) * kRow) {
    for (int move = -kReach; move <= kReach; ++move) {
        const double way = move * kStep / step_sigma;
        const int column = move + kReach;
        penalty_[static_cast<std::size_t>(column)] = static_cast<float>(-0.5 * way * way);
    }
    for (int k = 0; k < kStates / order; ++k) {
        turns_.emplace_back(std::polar(1.0, order * k * kStep));
    }
}

void PhaseTrellis::add_header(const PhaseSample& header) {
    for (int s = 0; s < kStates; ++s) {
        row(done_)[kReach + s] += static_cast<float>(std::cos(s * kStep - header.phase) / header.variance);
    }
}

void PhaseTrellis::advance(std::complex<double> emission) {
    // Both ends are repeated, so that a path may run on over a full turn.
    float* from = row(done_);
    std::copy_n(from + kStates, kReach, from);
    std::copy_n(from + kReach, kReach, from + kReach + kStates);
    float* to = row(++done_) + kReach;
    std::fill_n(to, kStates, std::numeric_limits<float>::lowest());
    for (int move = -kReach; move <= kReach; ++move) {
        const float penalty = penalty_of(move);
        const float* before = from + kReach - move;
        for (int s = 0; s < kStates; ++s) {
            to[s] = std::max(to[s], before[s] + penalty);
        }
    }
    add_emission(std::complex<float>(emission), to);
}

double PhaseTrellis::score() const {
    return row(done_)[kReach + best_state()];
}

std::vector<double> PhaseTrellis::path() const {
    std::vector<double> phases(done_);
    int state = best_state();
    int turns = 0;
    for (std::size_t b = done_; b > 0; --b) {
        phases[b - 1] = (state + turns * kStates) * kStep;
        state -= best_move(b - 1, state);
        const int over = state < 0 ? -1 : state >= kStates ? 1 : 0;
        turns += over;
        state -= over * kStates;
    }
    return phases;
}

int PhaseTrellis::best_state() const {
    const float* last = row(done_) + kReach;
    return static_cast<int>(std::max_element(last, last + kStates) - last);
}

int PhaseTrellis::best_move(std::size_t block, int state) const {
    const float* before = row(block) + kReach + state;
    const auto score = [&](int move) { return before[-move] + penalty_of(move); };
    int best = 0;
    for (int move = -kReach; move <= kReach; ++move) {
        if (score(move) > score(best)) best = move;
    }
    return best;
}

void PhaseTrellis::add_emission(std::complex<float> emission, float* to) const {
    for (std::size_t k = 0; k < turns_.size(); ++k) {
        const float gain = emission.real() * turns_[k].real() + emission.imag() * turns_[k].imag();
        for (std::size_t s = k; s < kStates; s += turns_.size()) {
            to[s] += gain;
        }
    }
}

}  // namespace tidemill::dvbs2::internal
