#include "tidemill/dvbs2/carrier/noise.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

TEST_CASE("noise: known symbols tell Es/N0 within 0.2 dB on average, from -2.35 to 16 dB") {
    for (const double esn0_db : {-2.35, 1.0, 6.0, 16.0}) {
        std::mt19937 random(31);
        double signal = 0;
        double noise_power = 0;
        for (int frame = 0; frame < 600; ++frame) {
            const auto known =
                transmit(std::vector<Iq>(270, {0.5F, 0}), {.esn0_db = esn0_db, .phase = 0}, random);
            const SignalQuality quality = quality_of_known(known);
            signal += std::pow(quality.amplitude, 2);
            noise_power += quality.noise_variance;
        }
        // The symbols came at half amplitude: 6.02 dB less.
        CHECK(std::abs(10 * std::log10(signal / noise_power) - (esn0_db - 6.0206)) < 0.2);
    }
}

TEST_CASE("noise: known symbols that were zeroed count for nothing") {
    std::mt19937 random(33);
    auto known = transmit(std::vector<Iq>(270, {1, 0}), {.esn0_db = 9, .phase = 0}, random);
    const SignalQuality whole = quality_of_known(known);
    std::fill(known.begin() + 90, known.begin() + 126, Iq{});
    const SignalQuality hit = quality_of_known(known);
    CHECK(std::abs(hit.esn0_db() - whole.esn0_db()) < 0.6);
    CHECK(std::abs(hit.amplitude - whole.amplitude) < 0.05F);
}

TEST_CASE("noise: the data symbols of one PSK frame tell Es/N0 within 0.5 dB at its threshold") {
    for (const Modcod& modcod : all_modcods()) {
        if (modcod.number > 17) {
            break;
        }
        std::mt19937 random(32);
        const auto frame = make_frame({modcod.number, FrameSize::normal, false}, PlScrambler(0), random);
        const auto data = transmit(map_bits(modcod, frame.bits),
                                   {.esn0_db = modcod.esn0_threshold_db, .frequency = 0.1}, random);
        CAPTURE(modcod.number);
        CHECK(std::abs(quality_of_psk(data).esn0_db() - modcod.esn0_threshold_db) < 0.5F);
    }
}

TEST_CASE("noise: data symbols with another level, or zeroed, move Es/N0 by nothing") {
    std::mt19937 random(34);
    const auto frame = make_frame({6, FrameSize::short_, false}, PlScrambler(0), random);
    const auto data = transmit(map_bits(*find_modcod(6), frame.bits), {.esn0_db = 5.6, .phase = 0}, random);
    const float whole = quality_of_psk(data).esn0_db();
    for (const float gain : {0.0F, 0.1F, 3.2F, 10.0F}) {
        auto stepped = data;
        for (std::size_t n = data.size() - 120; n < data.size(); ++n) stepped[n] *= gain;
        CAPTURE(gain);
        CHECK(std::abs(quality_of_psk(stepped).esn0_db() - whole) < 0.3F);
    }
}

TEST_CASE("noise: silence and pure noise give finite numbers") {
    std::mt19937 random(33);
    for (const auto& symbols : {std::vector<Iq>(900), noise(900, 0, random)}) {
        for (const SignalQuality& quality : {quality_of_known(symbols), quality_of_psk(symbols)}) {
            CHECK(std::isfinite(quality.amplitude));
            CHECK(quality.noise_variance > 0);
            CHECK(quality.esn0_db() < 1);
        }
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
