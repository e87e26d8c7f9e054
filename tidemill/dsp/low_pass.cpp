#include "tidemill/dsp/low_pass.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

namespace tidemill::dsp {

namespace {

// The window's shape for a stop band, beyond 50 dB, and the length that its transition takes.
double kaiser_beta(double stop_db) {
    return 0.1102 * (stop_db - 8.7);
}
double kaiser_length(double stop_db, double transition) {
    return (stop_db - 7.95) / (14.36 * transition);
}

// The modified Bessel function I0 by its power series, which converges fast for the few units that a window
// takes. std::cyl_bessel_i finds three more functions beside it and takes ten times as long.
double bessel_i0(double x) {
    const double quarter = x * x / 4;
    double sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-17; ++k) {
        term *= quarter / (k * k);
        sum += term;
    }
    return sum;
}

}  // namespace

LowPass::LowPass(double pass, double stop, double stop_db)
    : cutoff_((pass + stop) / 2),
      beta_(kaiser_beta(stop_db)),
      window_(bessel_i0(beta_)),
      reach_(static_cast<std::size_t>(std::ceil(kaiser_length(stop_db, stop - pass) / 2)) + 1) {
    assert(pass > 0 && stop > pass && stop_db > 50);
}

double LowPass::operator()(double t) const {
    const double place = t / static_cast<double>(reach_);
    if (std::abs(place) >= 1) return 0;
    const double angle = 2 * std::numbers::pi * cutoff_ * t;
    const double ideal = angle == 0 ? 2 * cutoff_ : 2 * cutoff_ * std::sin(angle) / angle;
    return ideal * bessel_i0(beta_ * std::sqrt(1 - place * place)) / window_;
}

}  // namespace tidemill::dsp
