#include "tidemill/dsp/pulse.hpp"

#include <cmath>
#include <numbers>

namespace tidemill::dsp {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kPole = 1e-6;  // closer to a removable singularity than this, its limit is used

}  // namespace

double raised_cosine(double t, double rolloff) {
    const double sinc = std::abs(t) < kPole ? 1.0 : std::sin(kPi * t) / (kPi * t);
    const double u = 2.0 * rolloff * t;
    if (std::abs(std::abs(u) - 1.0) < kPole) return sinc * kPi / 4.0;
    return sinc * std::cos(kPi * rolloff * t) / (1.0 - u * u);
}

double root_raised_cosine(double t, double rolloff) {
    const double a = rolloff;
    if (std::abs(t) < kPole) return 1.0 - a + 4.0 * a / kPi;
    const double u = 4.0 * a * t;
    if (std::abs(std::abs(u) - 1.0) < kPole) {
        const double x = kPi / (4.0 * a);
        return a / std::sqrt(2.0) * ((1.0 + 2.0 / kPi) * std::sin(x) + (1.0 - 2.0 / kPi) * std::cos(x));
    }
    const double top = std::sin(kPi * t * (1.0 - a)) + u * std::cos(kPi * t * (1.0 + a));
    return top / (kPi * t * (1.0 - u * u));
}

double raised_cosine_spectrum(double f, double rolloff) {
    const double edge = (std::abs(f) - 0.5) / rolloff;  // -1/2..1/2 inside the transition
    if (edge <= -0.5) return 1.0;
    if (edge >= 0.5) return 0.0;
    return 0.5 * (1.0 - std::sin(kPi * edge));
}

}  // namespace tidemill::dsp
