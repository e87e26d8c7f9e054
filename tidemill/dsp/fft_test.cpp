#include "tidemill/dsp/fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

std::vector<Iq> noise(std::size_t count) {
    std::mt19937_64 random(count);
    std::normal_distribution<float> normal;
    std::vector<Iq> x(count);
    for (Iq& v : x) v = {normal(random), normal(random)};
    return x;
}

// A value of the sum that defines the transform.
std::complex<double> value_at(std::span<const Iq> x, std::size_t k) {
    std::complex<double> sum;
    for (std::size_t n = 0; n < x.size(); ++n) {
        const double cycles = static_cast<double>(k * n % x.size()) / static_cast<double>(x.size());
        sum += std::complex<double>(x[n]) * std::polar(1.0, -2 * std::numbers::pi * cycles);
    }
    return sum;
}

}  // namespace

TEST_CASE("fft: equals the sum that defines it, and its inverse undoes it, with every instruction set") {
    on_every_target([] {
        for (std::size_t count = 1; count <= 4096; count *= 2) {
            CAPTURE(count);
            const auto x = noise(count);
            auto spectrum = x;
            fft(spectrum);
            const double allowed = 1e-6 * std::sqrt(static_cast<double>(count)) * 10;
            for (std::size_t k = 0; k<count; k += count> 64 ? 61 : 1)
                CHECK(std::abs(std::complex<double>(spectrum[k]) - value_at(x, k)) < allowed);
            inverse_fft(spectrum);
            float worst = 0;
            for (std::size_t n = 0; n < count; ++n)
                worst = std::max(worst, std::abs(spectrum[n] / static_cast<float>(count) - x[n]));
            CHECK(worst < 1e-5F);
        }
    });
    auto odd = noise(12);
    CHECK_THROWS(fft(odd));
}

TEST_CASE("fft: from one span into another it gives the same, and leaves the first as it was") {
    for (const std::size_t count : {2U, 4U, 8U, 64U, 128U, 1024U, 2048U}) {
        const auto x = noise(count);
        auto in_place = x, given = x;
        std::vector<Iq> other(count);
        Fft transform(count);
        transform.forward(in_place);
        transform.forward(given, other);
        CHECK(other == in_place);
        CHECK(given == x);
    }
}

}  // namespace tidemill::dsp
