#include "tidemill/dvbs2/carrier/internal/phase_walk.hpp"

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {
namespace {

constexpr int kFourth = 4;
constexpr double kBlockDistance = 96;
constexpr double kExpectedWalk = 1e-5;
const Sweep kCurved{2e-5, 3e-9, 16245, 0};

// Unit signals whose phase walks beside a sweep, in noise of so much variance.
std::vector<PowerBlock> walking_blocks(double walk, double noise, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    std::vector<PowerBlock> blocks;
    double phase = 0.4;
    for (int block = 0; block < 335; ++block) {
        const double place = 138 + kBlockDistance * block;
        const auto signal = std::polar(1.0, kFourth * (kCurved.phase_at(place) + phase));
        const double part = std::sqrt(noise / 2);
        const double re = part * normal(random), im = part * normal(random);
        blocks.push_back({place, signal + std::complex<double>{re, im}});
        phase += std::sqrt(walk * kBlockDistance) * normal(random);
    }
    return blocks;
}

}  // namespace

TEST_CASE("phase walk: of 20 to 30 degrees in 1000 symbols it is estimated within 3 dB, beside a sweep") {
    for (const double degrees : {20.0, 25.0, 30.0}) {
        const double walk = std::pow(degrees / 360 * dsp::kTwoPi, 2) / 1000;
        for (unsigned seed = 1; seed <= 20; ++seed) {
            CAPTURE(degrees);
            CAPTURE(seed);
            const double found =
                walk_beside(kCurved, walking_blocks(walk, 0.2, seed), kFourth, kExpectedWalk);
            CHECK(std::abs(10 * std::log10(found / walk)) < 3);
        }
    }
}

TEST_CASE("phase walk: a phase that walks as expected is not taken for a faster one, however noisy") {
    for (const double noise : {0.1, 1.0, 3.0, 10.0, 30.0}) {
        for (unsigned seed = 1; seed <= 60; ++seed) {
            CAPTURE(noise);
            CAPTURE(seed);
            const auto blocks = walking_blocks(kExpectedWalk, noise, seed);
            CHECK(walk_beside(kCurved, blocks, kFourth, kExpectedWalk) == kExpectedWalk);
        }
    }
}

TEST_CASE("phase walk: a few blocks show none") {
    const auto blocks = walking_blocks(1e-3, 0.1, 1);
    CHECK(walk_beside(kCurved, std::span(blocks).first(40), kFourth, kExpectedWalk) == kExpectedWalk);
    CHECK(walk_beside(kCurved, {}, kFourth, kExpectedWalk) == kExpectedWalk);
}

}  // namespace tidemill::dvbs2::internal
