#include "tidemill/dvbs2/carrier/internal/phase_trellis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tidemill::dvbs2::internal {

void PhaseTrellis::begin(int order, double step_sigma, std::size_t blocks) {
    steps_ = steps_for(step_sigma);
    step_sigma /= std::sqrt(static_cast<double>(steps_));
    const std::size_t rows = blocks * steps_ + 1;
    if (scores_.size() < rows * kRow) scores_.resize(rows * kRow);
    done_ = 0;
    std::fill_n(row(0), kRow, 0.0F);
    for (int move = 0; move <= kPhaseReach; ++move) {
        const double way = move * kStep / step_sigma;
        penalties_[static_cast<std::size_t>(move)] = static_cast<float>(-0.5 * way * way);
    }
    if (order != order_) turn_by(order);
}

// A phase that walks fast goes from block to block in several steps, each within reach.
std::size_t PhaseTrellis::steps_for(double step_sigma) {
    constexpr double kReachedSigmas = 2;
    const double steps = kReachedSigmas * step_sigma / (kPhaseReach * kStep);
    return static_cast<std::size_t>(std::clamp(std::ceil(steps), 1.0, kMostSteps));
}

void PhaseTrellis::turn_by(int order) {
    order_ = order;
    for (int s = 0; s < kPhaseStates; ++s) {
        const int in_sector = s % (kPhaseStates / order);
        const std::complex<float> turn(std::polar(1.0, order * in_sector * kStep));
        turn_re_[static_cast<std::size_t>(s)] = turn.real();
        turn_im_[static_cast<std::size_t>(s)] = turn.imag();
    }
}

void PhaseTrellis::add_header(const PhaseSample& header) {
    for (int s = 0; s < kPhaseStates; ++s) {
        row(done_)[kPhaseReach + s] +=
            static_cast<float>(std::cos(s * kStep - header.phase) / header.variance);
    }
}

void PhaseTrellis::advance(std::complex<double> emission) {
    for (std::size_t step = 1; step < steps_; ++step) advance_row({});
    advance_row(std::complex<float>(emission));
}

void PhaseTrellis::advance_row(std::complex<float> emission) {
    // Both ends are repeated, so that a path may run on over a full turn.
    float* from = row(done_);
    std::copy_n(from + kPhaseStates, kPhaseReach, from);
    std::copy_n(from + kPhaseReach, kPhaseReach, from + kPhaseReach + kPhaseStates);
    trellis_step(from + kPhaseReach, penalties_, emission, turn_re_, turn_im_, row(++done_) + kPhaseReach);
}

double PhaseTrellis::score() const {
    return row(done_)[kPhaseReach + best_state()];
}

void PhaseTrellis::path(std::vector<double>& phases) const {
    phases.resize(done_ / steps_);
    int state = best_state();
    int turns = 0;
    for (std::size_t b = done_; b > 0; --b) {
        if (b % steps_ == 0) phases[b / steps_ - 1] = (state + turns * kPhaseStates) * kStep;
        state -= best_move(b - 1, state);
        const int over = state < 0 ? -1 : state >= kPhaseStates ? 1 : 0;
        turns += over;
        state -= over * kPhaseStates;
    }
}

int PhaseTrellis::best_state() const {
    const float* last = row(done_) + kPhaseReach;
    return static_cast<int>(std::max_element(last, last + kPhaseStates) - last);
}

int PhaseTrellis::best_move(std::size_t block, int state) const {
    const float* before = row(block) + kPhaseReach + state;
    const auto score = [&](int move) {
        return before[-move] + penalties_[static_cast<std::size_t>(std::abs(move))];
    };
    int best = 0;
    for (int move = -kPhaseReach; move <= kPhaseReach; ++move) {
        if (score(move) > score(best)) best = move;
    }
    return best;
}

}  // namespace tidemill::dvbs2::internal
