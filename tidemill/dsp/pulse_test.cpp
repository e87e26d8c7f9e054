#include "tidemill/dsp/pulse.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/sampling_interpolator.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {

TEST_CASE("pulses: the square root, convolved with itself, is the raised cosine") {
    for (const double rolloff : {0.20, 0.25, 0.35}) {
        for (const double t : {0.0, 0.3, 0.5, 1.0, 1.0 / (2.0 * rolloff), 3.7}) {
            double sum = 0.0;
            constexpr double kStep = 1.0 / 16.0;
            for (double u = -200.0; u <= 200.0; u += kStep) {
                sum += root_raised_cosine(u, rolloff) * root_raised_cosine(t - u, rolloff) * kStep;
            }
            CHECK(sum == doctest::Approx(raised_cosine(t, rolloff)).epsilon(1e-4));
        }
    }
}

TEST_CASE("pulses: the removable singularities join their neighbourhood smoothly") {
    for (const double rolloff : {0.20, 0.25, 0.35}) {
        for (const double t : {0.0, 1.0 / (4.0 * rolloff), 1.0 / (2.0 * rolloff)}) {
            CHECK(root_raised_cosine(t, rolloff) ==
                  doctest::Approx(root_raised_cosine(t + 1e-4, rolloff)).epsilon(1e-3));
            CHECK(raised_cosine(t, rolloff) ==
                  doctest::Approx(raised_cosine(t + 1e-4, rolloff)).epsilon(1e-3));
        }
    }
}

TEST_CASE("pulses: the spectrum is flat, half at half the symbol rate, and gone beyond the roll-off") {
    CHECK(raised_cosine_spectrum(0.39, 0.2) == 1.0);
    CHECK(raised_cosine_spectrum(-0.5, 0.2) == doctest::Approx(0.5));
    CHECK(raised_cosine_spectrum(0.61, 0.2) == 0.0);
    double energy = 0.0;
    for (double f = -1.0; f < 1.0; f += 1e-3) energy += raised_cosine_spectrum(f, 0.35) * 1e-3;
    CHECK(energy == doctest::Approx(1.0).epsilon(1e-3));
}

TEST_CASE("strobe interpolator: symbols between samples are read with an error below -45 dB") {
    constexpr std::size_t kSymbols = 400;
    std::mt19937_64 random(9);
    std::vector<double> data(kSymbols + 40);
    for (double& a : data) a = random() % 2 ? 1.0 : -1.0;
    for (const double rolloff : {0.20, 0.35}) {
        const SamplingInterpolator interpolator(rolloff);
        CHECK(interpolator.error_db() < -45.0);
        on_every_target([&] {
            for (const double first : {8.0, 8.26, 9.0, 9.499}) {
                // Half-symbol samples of a signal whose sampling_instants stand at `first`, 80 ppm apart from
                // nominal.
                const double step = 2.0 * (1.0 + 80e-6);
                std::vector<Iq> even, odd;
                for (std::size_t m = 0; m < 2 * (kSymbols + 28); ++m) {
                    const double t = (static_cast<double>(m) - first) / step;
                    double x = 0.0;
                    for (std::size_t k = 0; k < data.size(); ++k) {
                        const double offset = t - (static_cast<double>(k) - 20.0);
                        if (std::abs(offset) < 20.0) x += data[k] * raised_cosine(offset, rolloff);
                    }
                    (m % 2 ? odd : even).push_back(Iq(static_cast<float>(x), static_cast<float>(-x)));
                }
                std::vector<Iq> symbols(kSymbols + SamplingInterpolator::kGroup);
                interpolator.read({even, odd}, first, step, kSymbols, symbols);
                double error = 0.0;
                for (std::size_t k = 0; k < kSymbols; ++k) {
                    error += std::norm(std::complex<double>(symbols[k]) -
                                       data[k + 20] * std::complex<double>(1, -1));
                }
                CHECK(10.0 * std::log10(error / (2.0 * kSymbols)) < -45.0);
            }
        });
    }
}

}  // namespace tidemill::dsp
