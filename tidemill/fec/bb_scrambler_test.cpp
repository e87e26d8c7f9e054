#include "tidemill/fec/bb_scrambler.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using tidemill::fec::bb_scramble;

TEST_CASE("the scrambling sequence starts as the standard's register does") {
    // 256 steps of 1 + x^14 + x^15 from 100101010000000, worked out separately.
    constexpr std::array<std::uint8_t, 32> first = {
        0x03, 0xf6, 0x08, 0x34, 0x30, 0xb8, 0xa3, 0x93, 0xc9, 0x68, 0xb7, 0x73, 0xb3, 0x29, 0xaa, 0xf5,
        0xfe, 0x3c, 0x04, 0x88, 0x1b, 0x30, 0x5a, 0xa1, 0xdf, 0xc4, 0xc0, 0x9a, 0x83, 0x5f, 0x0b, 0xc2};
    std::array<std::uint8_t, 32> bytes{};
    bb_scramble(bytes);
    CHECK(bytes == first);
}

TEST_CASE("the sequence has the period of its register, 32767 bits") {
    std::vector<std::uint8_t> bytes(58192 / 8);
    bb_scramble(bytes);
    const auto bit = [&](std::size_t i) { return bytes[i / 8] >> (7 - i % 8) & 1; };
    for (std::size_t i = 0; i + 32767 < 8 * bytes.size(); ++i) REQUIRE(bit(i) == bit(i + 32767));
}

TEST_CASE("scrambling twice gives the frame back") {
    std::vector<std::uint8_t> frame(7274);
    std::iota(frame.begin(), frame.end(), std::uint8_t{0});
    const auto before = frame;
    bb_scramble(frame);
    CHECK(frame != before);
    bb_scramble(frame);
    CHECK(frame == before);
}
