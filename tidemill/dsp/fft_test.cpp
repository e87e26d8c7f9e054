#include "tidemill/dsp/fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dsp {
namespace {

std::vector<Iq> noise(std::size_t count) {
    std::mt19937_64 random(count);
    std::normal_distribution<float> normal;
    std::vector<Iq> x(count);
    for (Iq& v : x) v = {normal(random), normal(random)};
    return x;
}

}  // namespace

TEST_CASE("fft: equals the sum that defines it, and its inverse undoes it") {
    for (const std::size_t count : {1U, 2U, 8U, 256U}) {
        const auto x = noise(count);
        auto spectrum = x;
        fft(spectrum);
        for (std::size_t k = 0; k < count; ++k) {
            std::complex<double> sum;
            for (std::size_t n = 0; n < count; ++n) {
                const double cycles = static_cast<double>(k * n % count) / static_cast<double>(count);
                sum += std::complex<double>(x[n]) * std::polar(1.0, -2 * std::numbers::pi * cycles);
            }
            CHECK(std::abs(std::complex<double>(spectrum[k]) - sum) < 1e-5 * std::sqrt(count) * 10);
        }
        inverse_fft(spectrum);
        float worst = 0;
        for (std::size_t n = 0; n < count; ++n) {
            worst = std::max(worst, std::abs(spectrum[n] / static_cast<float>(count) - x[n]));
        }
        CHECK(worst < 1e-5F);
    }
    auto odd = noise(12);
    CHECK_THROWS(fft(odd));
}

}  // namespace tidemill::dsp
