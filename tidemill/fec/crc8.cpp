#include "tidemill/fec/crc8.hpp"

#include <array>

namespace tidemill::fec {
namespace {

constexpr auto kTable = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        unsigned remainder = byte;
        for (int bit = 0; bit < 8; ++bit) remainder = remainder << 1 ^ (remainder & 0x80 ? 0x1D5 : 0);
        table[byte] = static_cast<std::uint8_t>(remainder);
    }
    return table;
}();

}  // namespace

std::uint8_t crc8(std::span<const std::uint8_t> bytes) {
    std::uint8_t remainder = 0;
    for (const std::uint8_t byte : bytes) remainder = kTable[remainder ^ byte];
    return remainder;
}

}  // namespace tidemill::fec
