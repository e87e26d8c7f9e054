#include "tidemill/io/transport/crc32.hpp"

#include <array>

namespace tidemill::io {
namespace {

constexpr std::array<std::uint32_t, 256> kCrcOfByte = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte << 24;
        for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7U : 0U);
        table[byte] = crc;
    }
    return table;
}();

}  // namespace

std::uint32_t crc32_mpeg(std::span<const std::uint8_t> bytes, std::uint32_t begin) {
    std::uint32_t crc = begin;
    for (const std::uint8_t byte : bytes) crc = crc << 8 ^ kCrcOfByte[crc >> 24 ^ byte];
    return crc;
}

}  // namespace tidemill::io
