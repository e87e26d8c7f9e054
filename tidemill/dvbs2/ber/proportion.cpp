#include "tidemill/dvbs2/ber/proportion.hpp"

#include <cmath>

namespace tidemill::dvbs2 {

namespace {

constexpr double kOutside = 0.05;

// Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method;
// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
    constexpr double kTiny = 1e-300;
    constexpr int kMostTerms = 10000;
    const auto kept_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
    double d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1));
    double c = 1;
    double fraction = d;
    for (int m = 1; m < kMostTerms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / kept_from_zero(1 + even * d);
        c = kept_from_zero(1 + even / c);
        fraction *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / kept_from_zero(1 + odd * d);
        c = kept_from_zero(1 + odd / c);
        fraction *= d * c;
        if (std::abs(d * c - 1) < 1e-15) break;
    }
    return fraction;
}

// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
    const double log_front =
        std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
    return std::exp(log_front) * beta_fraction(a, b, x) / a;
}

// The x at which I_x(a, b) = p.
double beta_quantile(double a, double b, double p) {
    double low = 0;
    double high = 1;
    for (int halving = 0; halving < 200; ++halving) {
        const double middle = (low + high) / 2;
        (incomplete_beta(a, b, middle) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

}  // namespace

Interval proportion_interval(std::uint64_t events, std::uint64_t trials) {
    if (trials == 0) return {0, 1};
    const auto n = static_cast<double>(trials);
    const auto k = static_cast<double>(events);
    if (events == 0) return {0, 1 - std::pow(kOutside, 1 / n)};
    if (events == trials) return {std::pow(kOutside, 1 / n), 1};
    return {beta_quantile(k, n - k + 1, kOutside / 2), beta_quantile(k + 1, n - k, 1 - kOutside / 2)};
}

}  // namespace tidemill::dvbs2
