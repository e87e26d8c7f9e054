#include "tidemill/dsp/resampler.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dsp {
namespace {

constexpr std::size_t kTaps = 32;

PolyphaseBank triangle_bank() {
    return {kTaps, 256, [](double t) { return std::max(0.0, 1.0 - std::abs(t)); }};
}

std::vector<Iq> ramp(std::size_t count) {
    std::vector<Iq> x(count);
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = {static_cast<float>(i), -static_cast<float>(i)};
    }
    return x;
}

std::vector<Iq> resampled(std::span<const Iq> x, double start, double step, std::size_t piece) {
    Resampler resampler(triangle_bank(), kTaps, start, step);
    std::vector<Iq> y;
    for (std::size_t i = 0; i < x.size(); i += piece) {
        resampler.process(x.subspan(i, std::min(piece, x.size() - i)), y);
    }
    resampler.finish(y);
    return y;
}

}  // namespace

TEST_CASE("resampler: output n is the input at place start + n * step") {
    const auto y = resampled(ramp(1000), -4.25, 0.75, 1000);
    REQUIRE(y.size() > 1330);
    for (std::size_t n = 0; n < 1330; ++n) {
        const double place = -4.25 + 0.75 * static_cast<double>(n);
        CHECK(y[n].real() == doctest::Approx(std::max(0.0, place)).epsilon(1e-5));
    }
    for (std::size_t n = 1340; n < y.size(); ++n) {
        CHECK(std::abs(y[n]) < 1e-4);
    }
}

TEST_CASE("resampler: the pieces in which the input comes do not matter") {
    const auto x = ramp(2000);
    const auto whole = resampled(x, -2.5, 1.0001, 2000);
    for (const std::size_t piece : {1U, 7U, 64U, 999U}) {
        CHECK(resampled(x, -2.5, 1.0001, piece) == whole);
    }
}

}  // namespace tidemill::dsp
