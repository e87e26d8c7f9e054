#include "tidemill/fec/crc8.hpp"

#include <array>
#include <cstddef>

namespace tidemill::fec {
namespace {

constexpr std::size_t kTableBytes = 8;
using Table = std::array<std::uint8_t, 256>;

constexpr std::uint8_t remainder_of(unsigned byte) {
    for (int bit = 0; bit < 8; ++bit) byte = byte << 1 ^ (byte & 0x80 ? 0x1D5 : 0);
    return static_cast<std::uint8_t>(byte);
}

// Entry [i][byte]: the remainder of that byte followed by i more bytes.
constexpr auto kRemainders = [] {
    std::array<Table, kTableBytes> tables{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::uint8_t remainder = static_cast<std::uint8_t>(byte);
        for (Table& table : tables) table[byte] = remainder = remainder_of(remainder);
    }
    return tables;
}();

}  // namespace

std::uint8_t crc8(std::span<const std::uint8_t> bytes) {
    std::uint8_t remainder = 0;
    for (; bytes.size() >= kTableBytes; bytes = bytes.subspan(kTableBytes)) {
        std::uint8_t next = 0;  // without what waits for the bytes before
        for (std::size_t i = 1; i < kTableBytes; ++i) next ^= kRemainders[kTableBytes - 1 - i][bytes[i]];
        remainder = next ^ kRemainders[kTableBytes - 1][remainder ^ bytes[0]];
    }
    for (const std::uint8_t byte : bytes) remainder = kRemainders[0][remainder ^ byte];
    return remainder;
}

}  // namespace tidemill::fec
