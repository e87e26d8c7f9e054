#include "tidemill/dvbs2/sync/phase_smoother.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

struct Errors {
    double before, after, walk_deg;  // rms in radians
};

Errors smooth_walk(double walk_deg, double noise, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    constexpr double kSpacing = 100;
    const double step = walk_deg * 0.0174533 * std::sqrt(kSpacing / 1000);
    std::vector<PhaseSample> samples;
    std::vector<double> truth;
    double phase = 1;
    Errors errors{};
    for (int i = 0; i < 400; ++i) {
        phase += step * normal(random);
        truth.push_back(phase);
        samples.push_back({i * kSpacing, phase + noise * normal(random), noise * noise});
        errors.before += std::pow(samples.back().phase - phase, 2) / 400;
    }
    PhaseSmoother smoother;
    smoother.smooth(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        errors.after += std::pow(samples[i].phase - truth[i], 2) / 400;
    }
    return {std::sqrt(errors.before), std::sqrt(errors.after), std::sqrt(smoother.walk() * 1000) / 0.0174533};
}

TEST_CASE("phase_smoother: a phase that stands still is known ten times better, one that walks three times") {
    const Errors still = smooth_walk(0, 0.2, 81);
    CHECK(still.after < 0.1 * still.before);
    CHECK(still.walk_deg == 0);
    const Errors walking = smooth_walk(3, 0.2, 82);
    CHECK(walking.after < 0.35 * walking.before);
    CHECK(walking.walk_deg == doctest::Approx(3).epsilon(0.7));
    const Errors running = smooth_walk(25, 0.2, 84);
    CHECK(running.walk_deg >= 20);
}

TEST_CASE("phase_smoother: exact samples stay as they are, and so does a single one") {
    const Errors exact = smooth_walk(5, 1e-6, 83);
    CHECK(exact.after < 2e-6);
    std::vector<PhaseSample> one{{5, 1.5, 0.1}};
    PhaseSmoother smoother;
    smoother.smooth(one);
    CHECK(one[0].phase == 1.5);
}

}  // namespace
}  // namespace tidemill::dvbs2
