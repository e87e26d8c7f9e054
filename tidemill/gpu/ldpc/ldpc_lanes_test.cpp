// The kernel's lanes as NVIDIA's GPUs calculate them: two numbers of 16 bits per register. Here each
// instruction is done by hand, so that every value can be compared with what the decoder means, without such
// a GPU.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/fec/internal/ldpc_kernel.hpp"

namespace {

using uint = std::uint32_t;

double number_of(std::uint32_t half) {
    const int exponent = static_cast<int>(half >> 10U & 31U), fraction = static_cast<int>(half & 1023U);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}

// All results here are exact, which is what is tested.
std::uint32_t half_of(double number) {
    const std::uint32_t sign = std::signbit(number) ? 0x8000U : 0U;
    const double magnitude = std::abs(number);
    for (std::uint32_t half = 0; half < 0x7c00U; ++half) {
        if (number_of(half) == magnitude) return sign | half;
    }
    FAIL("not a number of 16 bits: " << number);
    return 0;
}

std::uint32_t fast_half_of(double number) {
    if (number == 0) return std::signbit(number) ? 0x8000U : 0U;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(number), &exponent);  // of [0.5, 1)
    const double units = exponent > -14 ? fraction * 2048 : std::ldexp(std::abs(number), 24);
    REQUIRE(units == std::floor(units));
    const auto bits =
        exponent > -14 ? static_cast<std::uint32_t>((exponent + 14) * 1024 + static_cast<int>(units) - 1024)
                       : static_cast<std::uint32_t>(units);
    return bits | (number < 0 ? 0x8000U : 0U);
}

template <class... Words>
uint on_halves(auto&& call, Words... words) {
    const uint low = fast_half_of(call(number_of(words & 0xffffU)...));
    return low | fast_half_of(call(number_of(words >> 16U)...)) << 16U;
}

double saturated01(double x) {
    return std::clamp(x, 0.0, 1.0);
}

uint sum2(uint a, uint b) {
    return on_halves([](double x, double y) { return x + y; }, a, b);
}
uint saturated_sum2(uint a, uint b) {
    return on_halves([](double x, double y) { return saturated01(x + y); }, a, b);
}
uint product2(uint a, uint b) {
    return on_halves([](double x, double y) { return x * y; }, a, b);
}
uint smaller2(uint a, uint b) {
    return on_halves([](double x, double y) { return std::min(x, y); }, a, b);
}
uint larger2(uint a, uint b) {
    return on_halves([](double x, double y) { return std::max(x, y); }, a, b);
}
uint equal2(uint a, uint b) {
    return (number_of(a & 0xffffU) == number_of(b & 0xffffU) ? 0xffffU : 0U) |
           (number_of(a >> 16U) == number_of(b >> 16U) ? 0xffff0000U : 0U);
}
uint multiplied_sum2(uint a, uint b, uint c) {
    return on_halves([](double x, double y, double z) { return x * y + z; }, a, b, c);
}
uint saturated_multiplied_sum2(uint a, uint b, uint c) {
    return on_halves([](double x, double y, double z) { return saturated01(x * y + z); }, a, b, c);
}
uint bytes_of2(uint a, uint b, uint selector) {
    const std::uint64_t bytes = a | std::uint64_t{b} << 32U;
    uint result = 0;
    for (unsigned i = 0; i < 4; ++i)
        result |= static_cast<uint>(bytes >> (8 * (selector >> (4 * i) & 7U)) & 0xffU) << (8 * i);
    return result;
}

#define INLINE inline
#define PACKED_HALVES
#define PACKED_HALVES_BY_HAND
#include "tidemill/gpu/ldpc/ldpc_lanes.h"

uint word(int value) {
    return static_cast<uint>(value) * 0x01010101U;
}
int byte(uint value, unsigned lane) {
    return static_cast<int>(value >> (8 * lane) & 0xffU);
}
int saturated8(int value) {
    return std::clamp(value, -128, 127);
}

}  // namespace

TEST_CASE("ldpc lanes: halves and numbers are the same thing told twice") {
    for (const double number : {0.0, 1.0, -0.25, 1.0 / 512, 255.0 / 512, std::ldexp(255, -24), 32768.0})
        CHECK(fast_half_of(number) == half_of(number));
}

TEST_CASE("ldpc lanes: packed halves take every message out of every posterior, and put it into it") {
    for (int posterior = -128; posterior <= 127; ++posterior) {
        for (int before = -39; before <= 39; ++before) {
            const int x = saturated8(posterior - before);
            const Lanes lanes = extrinsic(word(posterior + 128), word(before + 64));
            REQUIRE(packed(lanes) == word(x + 128));
            const Lanes after = {HALVES(fast_half_of(before / 512.0)), HALVES(fast_half_of(before / 512.0))};
            REQUIRE(bytes_of_messages(after) == word(before + 64));
            REQUIRE(posteriors_of(extrinsic(word(posterior + 128), NO_MESSAGES), after) ==
                    word(saturated8(posterior + before) + 128));
            for (const int other : {-39, -1, 0, 7, 39})
                REQUIRE(changed(word(posterior + 128), word(other + 64), after) ==
                        word(saturated8(posterior + before - other) + 128));
        }
    }
}

TEST_CASE("ldpc lanes: packed halves answer each lane's check as plain integers do") {
    std::mt19937 random(4);
    for (int round = 0; round < 3000; ++round) {
        std::array<std::uint32_t, 7> edges{};
        const auto most = 1U + random() % 128U;
        Checks checks = no_edges();
        for (std::uint32_t& edge : edges) {
            for (unsigned lane = 0; lane < 4; ++lane)
                edge |= static_cast<std::uint32_t>(std::max(
                            0, 128 + static_cast<int>(random() % (2 * most)) - static_cast<int>(most)))
                        << (8 * lane);
            take(&checks, extrinsic(edge, NO_MESSAGES));
        }
        const Answers answers = answers_of(checks);
        for (std::size_t e = 0; e < edges.size(); ++e) {
            const uint got = bytes_of_messages(message(answers, extrinsic(edges[e], NO_MESSAGES)));
            for (unsigned lane = 0; lane < 4; ++lane) {
                int least = tidemill::fec::kLdpcMagnitudeCap;
                bool is_negative = false;
                for (std::size_t other = 0; other < edges.size(); ++other) {
                    if (other == e) continue;
                    const int x = byte(edges[other], lane) - 128;
                    least = std::min(least, std::abs(x));
                    is_negative ^= x < 0;
                }
                const int magnitude = std::max(least - tidemill::fec::kLdpcOffset, 0);
                REQUIRE(byte(got, lane) - 64 == (is_negative ? -magnitude : magnitude));
            }
        }
    }
}
