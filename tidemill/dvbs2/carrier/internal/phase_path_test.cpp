#include "tidemill/dvbs2/carrier/internal/phase_path.hpp"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {
namespace {

constexpr int kOrder = 8;
constexpr double kSpacing = 96;
constexpr double kSymbols = 240 * kSpacing;
constexpr double kStart = 1.3;  // radians

// Unit signals on a sweep, in noise of so much variance.
std::vector<PowerBlock> blocks_on(const Sweep& sweep, double noise) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, std::sqrt(noise / 2));
    std::vector<PowerBlock> blocks;
    for (double place = kSpacing; place < kSymbols; place += kSpacing) {
        const auto signal = std::polar(1.0, kOrder * (sweep.phase_at(place) + kStart));
        blocks.push_back({place, signal + std::complex<double>{normal(random), normal(random)}});
    }
    return blocks;
}

std::vector<PhaseSample> headers_on(const Sweep& sweep) {
    std::vector<PhaseSample> headers;
    for (const double place : {0.0, kSymbols}) {
        headers.push_back({place, std::remainder(sweep.phase_at(place) + kStart, dsp::kTwoPi), 1e-3});
    }
    return headers;
}

}  // namespace

TEST_CASE("sweep search: offset and drift are found where a block's noise is five times its signal") {
    for (const double offset : {-3e-4, 0.0, 1e-4}) {
        for (const double drift : {-3e-9, 0.0, 2e-9}) {
            const Sweep sweep{offset, drift, 0.5 * kSymbols, 0};
            const auto likely = search_sweeps(blocks_on(sweep, 5), kOrder, 1.5e-4, headers_on(sweep));
            const Sweep& found = likely.sweeps.front();
            CAPTURE(offset);
            CAPTURE(drift);
            CHECK(std::abs(found.offset - offset) < 4e-6);
            CHECK(std::abs(found.drift - drift) < 1.1e-9);
            CHECK(likely.statistics.signal == doctest::Approx(1).epsilon(0.3));
            CHECK(likely.statistics.noise == doctest::Approx(5).epsilon(0.3));
        }
    }
}

TEST_CASE("phase path: a phase that walks by 15 degrees from block to block is followed") {
    constexpr double kStep = 0.26;
    const std::array straight{Sweep{}};
    std::mt19937 random(6);
    std::normal_distribution<double> normal(0, 1);
    std::vector<PowerBlock> blocks;
    std::vector<double> truth;
    double phase = kStart;
    for (double place = kSpacing; place < kSymbols; place += kSpacing) {
        const double re = 0.2 * normal(random), im = 0.2 * normal(random);
        blocks.push_back({place, std::polar(1.0, 4 * phase) + std::complex<double>{re, im}});
        truth.push_back(phase);
        phase += kStep * normal(random);
    }
    const std::array headers{PhaseSample{0, truth.front(), 1e-3}, PhaseSample{kSymbols, truth.back(), 1e-3}};
    PathFollower path;
    std::vector<PhaseSample> samples;
    path.follow(blocks, {1, 0.08}, 4, headers, kStep, straight, samples);
    REQUIRE(samples.size() == blocks.size() + 2);
    for (std::size_t b = 0; b < blocks.size(); ++b) CHECK(std::abs(samples[b + 1].phase - truth[b]) < 0.3);
}

TEST_CASE("phase path: what was followed before, of another order and length, changes nothing") {
    const Sweep sweep{1e-4, 2e-9, 0.5 * kSymbols, 0};
    const auto blocks = blocks_on(sweep, 5);
    std::vector<PhaseSample> first, again;
    PathFollower follower;
    follower.follow(blocks, {1, 5}, kOrder, headers_on(sweep), 0.03, std::array{sweep}, first);
    follower.follow(std::span(blocks).first(7), {1, 5}, 4, headers_on(sweep), 0.1, std::array{sweep}, again);
    follower.follow(blocks, {1, 5}, kOrder, headers_on(sweep), 0.03, std::array{sweep}, again);
    REQUIRE(again.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(again[i].phase == first[i].phase);
}

TEST_CASE(
    "phase path: from header to header nothing slips, though a block's noise is five times its signal") {
    const Sweep sweep{1e-4, 2e-9, 0.5 * kSymbols, 0};
    const auto blocks = blocks_on(sweep, 5);
    std::vector<PhaseSample> path;
    PathFollower follower;
    follower.follow(blocks, {1, 5}, kOrder, headers_on(sweep), 0.03, std::array{sweep}, path);
    REQUIRE(path.size() == blocks.size() + 2);
    CHECK(path.front().place == 0);
    CHECK(path.back().place == kSymbols);
    for (std::size_t part = 0; part < 4; ++part) {
        double sum = 0;  // one look has a deviation of 0.2 radians, a slip is a step of 0.79
        for (const PhaseSample& sample : std::span(path).subspan(1 + 59 * part, 59)) sum += sample.phase;
        CAPTURE(part);
        CHECK(std::abs(std::remainder(sum / 59 - kStart, dsp::kTwoPi)) < 0.12);
    }
}

}  // namespace tidemill::dvbs2::internal
