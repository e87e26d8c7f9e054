#include "tidemill/dvbs2/front/pulse_blanker.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/front/testing/front_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kWindow = 17000;

std::vector<Iq> sent_with(int modcod, double esn0_db) {
    const Pls pls{modcod, FrameSize::short_, true};
    auto samples = internal::make_reception(pls, 8, {.esn0_db = esn0_db}).samples;
    samples.resize(3 * kWindow);
    return samples;
}

// Blanks a stream window by window; nothing is known of its level.
std::uint64_t blanked(std::vector<Iq>& samples, double sps = 2) {
    PulseBlanker blanker(FrontGeometry({sps, 1, 0.2, kMaxBlockSamples}));
    std::uint64_t count = 0;
    for (std::size_t n = 0; n + kWindow <= samples.size(); n += kWindow)
        count += blanker.blank(std::span(samples).subspan(n, kWindow), 0, {});
    return count;
}

void add_pulse(std::vector<Iq>& samples, std::size_t begin, std::size_t count, double db,
               std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0, static_cast<float>(std::sqrt(0.5 * std::pow(10, db / 10))));
    for (std::size_t n = begin; n < begin + count; ++n) samples[n] += Iq(normal(random), normal(random));
}

}  // namespace

TEST_CASE(
    "pulse blanker: a clean signal of any constellation, one full of noise and a clipped one stay as they "
    "are") {
    for (const int modcod : {1, 7, 14, 19, 27}) {
        for (const double esn0_db : {-3.0, 5.0, 60.0}) {
            CAPTURE(modcod);
            CAPTURE(esn0_db);
            std::vector<Iq> samples = sent_with(modcod, esn0_db);
            const std::vector<Iq> before = samples;
            CHECK(blanked(samples) == 0);
            CHECK(samples == before);
            for (Iq& x : samples) x = {std::clamp(x.real(), -0.3F, 0.3F), std::clamp(x.imag(), -0.3F, 0.3F)};
            CHECK(blanked(samples) == 0);
        }
    }
}

TEST_CASE(
    "pulse blanker: of pulses from 10 to 40 dB over the signal hardly anything is left, and little else "
    "goes") {
    for (const double db : {10.0, 17.0, 23.0, 30.0, 40.0}) {
        CAPTURE(db);
        std::vector<Iq> samples = sent_with(7, 9);
        std::size_t hit = 0;
        for (std::size_t n = 1000; n + 200 < samples.size(); n += 15013, hit += 200)
            add_pulse(samples, n, 200, db, n);
        const std::uint64_t count = blanked(samples);
        CHECK(count >= 0.9 * static_cast<double>(hit));
        CHECK(count <= 1.1 * static_cast<double>(hit));
        double left = 0;
        for (std::size_t n = 1000; n + 200 < samples.size(); n += 15013)
            for (std::size_t k = n; k < n + 200; ++k) left += std::norm(samples[k]);
        CHECK(left / static_cast<double>(hit) < 0.5);  // of the signal's power
    }
}

TEST_CASE("pulse blanker: single samples 20 dB over the signal are zeroed, at 16 samples a symbol too") {
    for (const double sps : {2.0, 16.0}) {
        MadeSignal made =
            make_signal({.symbols = static_cast<std::size_t>(2 * kWindow / sps), .sps = sps, .esn0_db = 20});
        for (std::size_t n = 500; n < 2 * kWindow; n += 1000) made.samples[n] += Iq(8, -8);
        CHECK(blanked(made.samples, sps) == 34);
        for (std::size_t n = 500; n < 2 * kWindow; n += 1000) CHECK(made.samples[n] == Iq{});
    }
}

TEST_CASE(
    "pulse blanker: a signal that begins is no pulse, nor is a stronger one that lasts, nor anything in "
    "silence") {
    PulseBlanker blanker(FrontGeometry({2, 1, 0.2, kMaxBlockSamples}));
    for (const std::size_t part : {100U, 400U, 3000U}) {  // samples of the signal in the window
        CAPTURE(part);
        std::vector<Iq> samples = sent_with(7, 25);
        samples.resize(kWindow);
        for (std::size_t n = 0; n < kWindow - part; ++n) samples[n] *= 0.05F;
        const std::vector<Iq> before = samples;
        CHECK(blanker.blank(samples, 0, {.mean = 1}) == 0);
        CHECK(samples == before);
        if (part > 512) CHECK(blanker.blank(samples, 0, {}) == 0);
    }
    std::vector<Iq> silence(kWindow);
    silence[77] = {1, 1};
    CHECK(blanker.blank(silence, 0, {}) == 0);
    CHECK(silence[77] == Iq{1, 1});
}

TEST_CASE("pulse blanker: a burst of a signal that mostly pauses, so that its mean is too low, is none") {
    PulseBlanker blanker(FrontGeometry({2, 1, 0.2, kMaxBlockSamples}));
    std::vector<Iq> samples = sent_with(27, 25);
    samples.resize(kWindow);
    for (std::size_t n = 0; n < kWindow - 3000; ++n) samples[n] *= 0.1F;
    std::vector<Iq> again = samples;
    CHECK(blanker.blank(samples, 0, {.mean = 0.25, .loudest = 1}) == 0);
    CHECK(blanker.blank(again, 0, {.mean = 0.25, .loudest = 0.25}) == 0);
}

TEST_CASE(
    "pulse blanker: a short frame that rises out of noise, 10 to 20 dB above it, is none, at any place") {
    PulseBlanker blanker(FrontGeometry({2, 1, 0.2, kMaxBlockSamples}));
    for (const double esn0_db : {9.0, 12.0, 16.0, 20.0})
        for (const std::size_t first : {200U, 3000U, 9000U}) {
            CAPTURE(esn0_db);
            CAPTURE(first);
            std::vector<Iq> samples(kWindow);
            dsp::add_gaussian_noise(1, 0, static_cast<float>(std::pow(10, -(esn0_db - 3) / 20)), samples);
            const std::vector<Iq> burst = sent_with(7, 40);
            for (std::size_t n = 0; n < 6000; ++n) samples[first + n] += burst[n];
            CHECK(blanker.blank(samples, 0, {}) == 0);
        }
}

TEST_CASE("pulse blanker: what lies before the first sample to be counted is zeroed and not counted") {
    std::vector<Iq> samples = sent_with(7, 9);
    samples.resize(kWindow);
    add_pulse(samples, 300, 100, 30, 1);
    PulseBlanker blanker(FrontGeometry({2, 1, 0.2, kMaxBlockSamples}));
    auto again = samples;
    const std::uint32_t all = blanker.blank(samples, 0, {});
    CHECK(blanker.blank(again, 350, {}) < all);
    CHECK(again == samples);
    again[300] = {};
    CHECK(blanker.blank(again, 1000, {}) == 0);
}

}  // namespace tidemill::dvbs2
