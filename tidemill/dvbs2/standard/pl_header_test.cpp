#include "tidemill/dvbs2/standard/pl_header.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

std::vector<Iq> received(int code, float frequency, float esn0_db, std::mt19937& random) {
    std::normal_distribution<float> noise(0, std::sqrt(0.5F * std::pow(10.0F, -esn0_db / 10)));
    std::vector<Iq> symbols;
    for (const Iq sent : header_symbols(code)) {
        const float turns = frequency * static_cast<float>(symbols.size()) + 0.3F;
        symbols.push_back(sent * std::polar(1.0F, 2 * std::numbers::pi_v<float> * turns) +
                          Iq{noise(random), noise(random)});
    }
    return symbols;
}

HeaderMatch match(const std::vector<Iq>& symbols, float frequency) {
    return match_header(std::span(symbols).first<kHeaderSymbols>(), frequency);
}

TEST_CASE("pl_header: any two PLS codes differ in at least 32 of 64 bits") {
    int smallest = 64;
    for (int a = 0; a < 128; ++a) {
        for (int b = 0; b < a; ++b) {
            smallest = std::min(smallest, std::popcount(encode_pls(a) ^ encode_pls(b)));
        }
    }
    CHECK(smallest == 32);
}

TEST_CASE("pl_header: starts with the 26 bits 01100011010010111010000010, turned by pi/4 and 3 pi/4") {
    const std::string_view sof = "01100011010010111010000010";  // EN 302 307-1, 5.5.2.1
    for (std::size_t i = 0; i < sof.size(); ++i) {
        const float angle = (i % 2 == 0 ? 0.25F : 0.75F) + (sof[i] == '1' ? 1.0F : 0.0F);
        CHECK(std::abs(header_symbols(5)[i] - std::polar(1.0F, angle * std::numbers::pi_v<float>)) < 1e-6F);
    }
}

TEST_CASE("pl_header: every code is recognised with any phase, and with its frequency removed") {
    std::mt19937 random(1);
    for (int code = 0; code < 128; ++code) {
        const HeaderMatch found = match(received(code, 0.05F, 100, random), 0.05F);
        CHECK(found.code == code);
        CHECK(found.quality == doctest::Approx(1).epsilon(1e-4));
    }
}

TEST_CASE("pl_header: at -2.35 dB under one header in 2000 is misread") {
    std::mt19937 random(2);
    int wrong = 0;
    double quality = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
        const HeaderMatch found = match(received(trial % 128, 0.0F, -2.35F, random), 0.0F);
        wrong += found.code == trial % 128 ? 0 : 1;
        quality += found.quality;
    }
    CHECK(wrong <= 2);
    CHECK(quality / kTrials == doctest::Approx(0.368).epsilon(0.03));  // Es / (Es + N0), and 1/90 of the rest
}

TEST_CASE("pl_header: a conjugated header is one with half a cycle per symbol more") {
    std::mt19937 random(3);
    auto symbols = received(37, 0.02F, 20, random);
    std::ranges::transform(symbols, symbols.begin(), [](Iq s) { return std::conj(s); });
    CHECK(match(symbols, 0.5F - 0.02F).code == 37);
    CHECK(match(symbols, 0.5F - 0.02F).quality > 0.95F);
}

TEST_CASE("pl_header: noise passes a quality of 0.12 as rarely as the bound says") {
    std::mt19937 random(4);
    int passed = 0;
    constexpr int kTrials = 20000;
    for (int trial = 0; trial < kTrials; ++trial) {
        passed += match(received(0, 0.25F, -60, random), 0.0F).quality > 0.12F ? 1 : 0;
    }
    const double bound = 128 * std::pow(1 - 0.12, 89) * kTrials;
    CHECK(passed < bound + 3 * std::sqrt(bound));
    CHECK(passed > 0);
}

TEST_CASE("pl_header: silence and symbols that are no numbers match nothing") {
    std::vector<Iq> silence(kHeaderSymbols);
    CHECK(match(silence, 0).quality == 0);
    silence[7] = {std::numeric_limits<float>::quiet_NaN(), 0};
    CHECK(match(silence, 0).quality == 0);
}

}  // namespace
}  // namespace tidemill::dvbs2
