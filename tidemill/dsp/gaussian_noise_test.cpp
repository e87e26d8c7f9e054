#include "tidemill/dsp/gaussian_noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {

TEST_CASE("gaussian noise: white, of unit variance, with the tails of a normal distribution") {
    constexpr std::uint64_t kSamples = 1'000'000;
    double power = 0, lag = 0, cross = 0, beyond_two = 0, beyond_four = 0;
    for (std::uint64_t n = 0; n < kSamples; ++n) {
        const Iq a = gaussian_noise_at(1, n);
        power += std::norm(a);
        cross += 2.0 * a.real() * a.imag();
        lag += 2.0 * a.real() * gaussian_noise_at(1, n + 1).real();
        beyond_two += std::abs(a.real()) > 2 / std::sqrt(2.0);
        beyond_four += std::abs(a.real()) > 4 / std::sqrt(2.0);
    }
    CHECK(power / kSamples == doctest::Approx(1.0).epsilon(5e-3));
    CHECK(std::abs(lag / kSamples) < 5e-3);
    CHECK(std::abs(cross / kSamples) < 5e-3);
    CHECK(beyond_two == doctest::Approx(0.0455003 * kSamples).epsilon(0.03));
    CHECK(beyond_four == doctest::Approx(6.334e-5 * kSamples).epsilon(0.5));
}

TEST_CASE("gaussian noise: depends on seed and place alone, to the last bit") {
    std::vector<Iq> whole(1500), cut(1500);
    add_gaussian_noise(3, 0, 1, whole);
    add_gaussian_noise(3, 0, 1, std::span(cut).first(701));
    add_gaussian_noise(3, 701, 1, std::span(cut).subspan(701));
    CHECK(whole == cut);
    std::vector<Iq> other(1500);
    add_gaussian_noise(4, 0, 1, other);
    CHECK(whole[5] != other[5]);
}

TEST_CASE("gaussian noise: every instruction set adds what the plain function gives, however it is cut") {
    constexpr float kAmplitude = 0.7F;
    on_every_target([&] {
        for (const std::size_t count : {0U, 1U, 7U, 64U, 513U, 2000U}) {
            for (const std::size_t first : {0U, 1U, 1000U}) {
                std::vector<Iq> samples(count, Iq(1, -1));
                const std::size_t cut = count / 3;
                add_gaussian_noise(9, first, kAmplitude, std::span(samples).first(cut));
                add_gaussian_noise(9, first + cut, kAmplitude, std::span(samples).subspan(cut));
                float worst = 0;
                for (std::size_t n = 0; n < count; ++n) {
                    const Iq expected = Iq(1, -1) + kAmplitude * gaussian_noise_at(9, first + n);
                    worst = std::max(worst, std::abs(samples[n] - expected));
                }
                CHECK(worst < 5e-6F);
            }
        }
    });
}

}  // namespace tidemill::dsp
