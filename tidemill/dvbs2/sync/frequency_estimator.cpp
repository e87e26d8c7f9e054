#include "tidemill/dvbs2/sync/frequency_estimator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"

namespace tidemill::dvbs2 {

namespace {

using Complex = std::complex<double>;
using dsp::product;

}  // namespace

void FrequencyEstimator::turn(LagSums& sums, double angle) {
    const Complex step = dsp::back_turn(angle);
    Complex factor = step;
    for (std::size_t lag = 1; lag < kLags; ++lag) {
        sums[lag] = product(sums[lag], factor);
        factor = product(factor, step);
    }
}

void FrequencyEstimator::add(std::span<const dsp::Iq> received, std::span<const dsp::Iq> references) {
    assert(received.size() == references.size() && received.size() <= kStep * kLags);
    std::array<dsp::Iq, kStep * kLags> products;
    const auto some = std::span(products).first(received.size());
    internal::BlockTurns(frequency_).turn_back(received, references, some);
    add_products(some);
}

void FrequencyEstimator::add_products(std::span<const dsp::Iq> products) {
    std::array<Complex, kLags> parts{};
    for (std::size_t first = 0, part = 0; first < products.size(); first += kStep, ++part) {
        double re = 0, im = 0;  // as one number they went through memory
        for (const dsp::Iq& symbol : products.subspan(first, std::min(kStep, products.size() - first))) {
            re += symbol.real();
            im += symbol.imag();
        }
        parts[part] = {re, im};
    }
    if (!std::isfinite(std::norm(std::accumulate(parts.begin(), parts.end(), Complex{})))) {
        return;  // one symbol that is no number must not spoil what all others taught
    }
    add_lags(std::span(parts).first(products.size() / kStep));
    const auto symbols = static_cast<double>(products.size());
    cubes_ += symbols * symbols * symbols;
}

// All lags of a part at once, so that no sum waits for itself; compilers make vectors of them where real and
// imaginary parts lie apart, and parts from the last one to the first.
void FrequencyEstimator::add_lags(std::span<const Complex> parts) {
    std::array<double, kLags> re{}, im{}, sum_re{}, sum_im{};
    const std::size_t count = parts.size();
    for (std::size_t i = 0; i < count; ++i) {
        re[count - 1 - i] = parts[i].real();
        im[count - 1 - i] = parts[i].imag();
    }
    for (std::size_t i = 1; i < count; ++i) {
        const Complex last = parts[i];
        const std::size_t at = count - 1 - i;
        for (std::size_t lag = 1; lag <= i; ++lag) {
            sum_re[lag] += last.real() * re[at + lag] + last.imag() * im[at + lag];
            sum_im[lag] += last.imag() * re[at + lag] - last.real() * im[at + lag];
        }
    }
    for (std::size_t lag = 1; lag < count; ++lag) lag_sums_[lag] += Complex(sum_re[lag], sum_im[lag]);
}

void FrequencyEstimator::add(const FrequencyEstimator& other) {
    assert(other.frequency_ == frequency_);
    cubes_ += other.cubes_;
    for (std::size_t lag = 1; lag < kLags; ++lag) {
        lag_sums_[lag] += other.lag_sums_[lag];
    }
}

void FrequencyEstimator::forget(double factor) {
    cubes_ *= factor;
    for (Complex& sum : lag_sums_) {
        sum *= factor;
    }
}

void FrequencyEstimator::move(double by) {
    turn(lag_sums_, dsp::kTwoPi * kStep * by);
    frequency_ += by;
}

double FrequencyEstimator::offset() const {
    LagSums sums = lag_sums_;
    const Complex near = std::accumulate(sums.begin() + 1, sums.begin() + 1 + kLags / 2, Complex{});
    if (!(std::norm(near) > 0)) {
        return 0;
    }
    double angle = std::arg(near) / 4;  // Luise and Reggiannini: the mean of the lags 1 to 7 is 4
    turn(sums, angle);
    for (int iteration = 0; iteration < 3; ++iteration) {
        double slope = 0;
        double curvature = 0;
        for (std::size_t lag = 1; lag < kLags; ++lag) {
            const auto m = static_cast<double>(lag);
            slope += m * sums[lag].imag();
            curvature += m * m * sums[lag].real();
        }
        if (!(curvature > std::abs(slope))) {
            break;
        }
        turn(sums, slope / curvature);
        angle += slope / curvature;
    }
    return angle / (dsp::kTwoPi * kStep);
}

double FrequencyEstimator::sigma(double esn0) const {
    // Cramer-Rao bound of a sinusoid's frequency, for the sum of the blocks' information.
    return std::sqrt(3 / (dsp::kTwoPi * std::numbers::pi * std::max(cubes_ * esn0, 1e-9)));
}

}  // namespace tidemill::dvbs2
