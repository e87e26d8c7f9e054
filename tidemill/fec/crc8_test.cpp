#include "tidemill/fec/crc8.hpp"

#include <array>
#include <string_view>

#include <doctest/doctest.h>

using tidemill::fec::crc8;

TEST_CASE("CRC-8 of the customary check string is 0xBC") {
    constexpr std::string_view text = "123456789";
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    CHECK(crc8(bytes) == 0xBC);
    CHECK(crc8({}) == 0);
}

TEST_CASE("a header followed by its CRC-8 leaves nothing, and every single bit error something") {
    std::array<std::uint8_t, 10> header = {0xF2, 0, 0x05, 0xE0, 0xDE, 0xA8, 0x47, 0x01, 0x78, 0};
    header.back() = crc8(std::span(header).first(9));
    CHECK(crc8(header) == 0);
    for (std::size_t bit = 0; bit < 80; ++bit) {
        auto damaged = header;
        damaged[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        CHECK(crc8(damaged) != 0);
    }
}

TEST_CASE("CRC-8 of any number of bytes is what division bit by bit leaves") {
    std::array<std::uint8_t, 40> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i * 37 + 11);
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        unsigned remainder = 0;
        for (std::size_t bit = 0; bit < 8 * length; ++bit) {
            remainder ^= (bytes[bit / 8] << bit % 8) & 0x80;
            remainder = remainder << 1 ^ (remainder & 0x80 ? 0x1D5 : 0);
        }
        CHECK(crc8(std::span(bytes).first(length)) == remainder);
    }
}
