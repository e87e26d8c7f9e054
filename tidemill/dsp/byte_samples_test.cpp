#include "tidemill/dsp/byte_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/lag_correlation.hpp"
#include "tidemill/dsp/power_peaks.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/short_rotator.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

std::vector<Ci8> noise_bytes(std::size_t count, int most = 127) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> part(-most, most);
    std::vector<Ci8> x(count);
    for (Ci8& v : x) v = {static_cast<std::int8_t>(part(random)), static_cast<std::int8_t>(part(random))};
    return x;
}

// The same numbers, not scaled.
std::vector<Iq> as_floats(std::span<const Ci8> x) {
    std::vector<Iq> floats;
    for (const Ci8 v : x) floats.emplace_back(static_cast<float>(v.re), static_cast<float>(v.im));
    return floats;
}

constexpr std::array<std::size_t, 6> kCounts = {0, 2, 14, 64, 1026, 3000};
constexpr Oscillator kTurned{0.3, -0.0271828, 150.0};

}  // namespace

TEST_CASE("byte samples: they are turned as floats of the same numbers are, in every form") {
    on_every_target([] {
        for (const std::size_t count : kCounts) {
            const auto bytes = noise_bytes(count);
            const auto floats = as_floats(bytes);
            std::vector<Iq> even(count / 2), odd(count / 2), want_even(even), want_odd(odd);
            rotate_split(bytes, kTurned, even, odd);
            rotate_split(floats, kTurned, want_even, want_odd);
            CHECK(even == want_even);
            CHECK(odd == want_odd);
            std::vector<std::int16_t> re(count), im(count), want_re(count), want_im(count);
            rotate_to_planes(bytes, kTurned, re, im);
            rotate_to_planes(floats, kTurned, want_re, want_im);
            CHECK(re == want_re);
            CHECK(im == want_im);
            std::vector<std::int16_t> pairs(2 * count), want_pairs(pairs);
            rotate_to_pairs(bytes, kTurned, pairs);
            rotate_to_pairs(floats, kTurned, want_pairs);
            CHECK(pairs == want_pairs);
        }
    });
}

TEST_CASE("rotator: pairs are the turned samples, rounded, both real parts before both imaginary ones") {
    on_every_target([] {
        for (const std::size_t count : kCounts) {
            const auto x = as_floats(noise_bytes(count));
            std::vector<std::int16_t> pairs(2 * count);
            rotate_to_pairs(x, kTurned, pairs);
            for (std::size_t n = 0; n < count; ++n) {
                const std::int16_t* pair = &pairs[n / 2 * 4];
                const auto turned = std::complex<double>(x[n]) * kTurned.at(static_cast<double>(n));
                // Beside rounding, what the oscillator loses in single precision.
                const double most = 0.5 + 3e-6 * std::abs(turned);
                CHECK(std::abs(pair[n % 2] - turned.real()) <= most);
                CHECK(std::abs(pair[n % 2 + 2] - turned.imag()) <= most);
            }
        }
    });
}

TEST_CASE("byte samples: every instruction set gives the very sums of their lags and moments") {
    constexpr double kScale = 128, kSquare = kScale * kScale;
    on_every_target([&] {
        for (const LagSet& lags : {LagSet{1, 2, 8}, LagSet{5, 1, 4}, LagSet{3, 3, 16}}) {
            for (const std::size_t count : {0U, 1U, 9U, 77U, 2048U}) {
                std::vector<Ci8> x = noise_bytes(count + lags.reach());
                if (count == 77) std::ranges::fill(x, Ci8{-128, -128});
                const auto at = [&](std::size_t n) { return std::complex<double>(x[n].re, x[n].im); };
                IqMoments want{.count = static_cast<double>(count)};
                std::array<std::complex<double>, kMaxLags> sums{};
                for (std::size_t n = 0; n < count; ++n) {
                    want.power += std::norm(at(n));
                    want.sum += at(n);
                    want.square += at(n) * at(n);
                    for (std::size_t l = 0; l < lags.count; ++l)
                        sums[l] += std::conj(at(n)) * at(n + lags.lag(l));
                }
                const LagCorrelation got = lag_correlation(x, count, lags);
                CHECK(got.power == want.power / kSquare);
                for (std::size_t l = 0; l < kMaxLags; ++l) CHECK(got.sums[l] == sums[l] / kSquare);
                const IqMoments moments = iq_moments(std::span<const Ci8>(x).first(count));
                CHECK(moments.count == want.count);
                CHECK(moments.power == want.power / kSquare);
                CHECK(moments.sum == want.sum / kScale);
                CHECK(moments.square == want.square / kSquare);
            }
        }
        const std::vector<Ci8> loudest(32768 + 1, Ci8{-128, -128});
        CHECK(lag_correlation(loudest, 32768, {1, 0, 4}).power == 2 * 32768.0);
        CHECK(iq_moments(std::span<const Ci8>(loudest).first(32768)).power == 2 * 32768.0);
    });
}

TEST_CASE("power_peaks: of bytes they are those of floats, up to the loudest ones") {
    on_every_target([] {
        for (const int most : {1, 20, 127}) {
            for (const std::size_t count : {63U, 64U, 100U, 640U, 17000U}) {
                auto bytes = noise_bytes(count, most);
                bytes.back() = {static_cast<std::int8_t>(-most), 0};
                const PowerPeaks got = power_peaks(bytes), want = power_peaks(as_floats(bytes));
                CHECK(got.mean == doctest::Approx(want.mean).epsilon(1e-5));
                CHECK(got.part == want.part);
                // The mean of two halves of a column is rounded up.
                CHECK(got.group >= want.group);
                CHECK(got.group <= want.group + 0.25F);
            }
        }
        const std::vector<Ci8> loudest(128, Ci8{-128, -128});
        const PowerPeaks got = power_peaks(loudest);
        CHECK(got.mean == 2 * 128 * 128);
        CHECK(got.part == 128 * 128);
        CHECK(got.group == doctest::Approx(128 * 128).epsilon(1e-4));
    });
}

TEST_CASE("mean_powers: of bytes they are those of floats") {
    on_every_target([] {
        for (const std::size_t group : {8U, 64U, 512U}) {
            const auto bytes = noise_bytes(5 * group);
            std::vector<float> got(5), want(5);
            mean_powers(bytes, group, got);
            mean_powers(as_floats(bytes), group, want);
            for (std::size_t i = 0; i < got.size(); ++i)
                CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
        }
    });
}

TEST_CASE("byte samples: those at an end of the range count as conversion counts them, wherever they stand") {
    on_every_target([] {
        for (const std::size_t count : {0U, 1U, 15U, 64U, 1025U, 5000U}) {
            auto bytes = noise_bytes(count, 126);
            CHECK(count_clipped(bytes) == 0);
            for (std::size_t n = 0; n < count; n += 13) {
                if (n % 2 == 0) bytes[n].re = 127;
                if (n % 3 == 0) bytes[n].im = -128;
            }
            std::vector<Iq> converted(count);
            const auto defects =
                convert_samples(SampleFormat::ci8, std::as_bytes(std::span(bytes)), converted);
            CHECK(count_clipped(bytes) == defects.clipped);
        }
    });
}

}  // namespace tidemill::dsp
