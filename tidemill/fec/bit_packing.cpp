#include "tidemill/fec/bit_packing.hpp"

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tidemill::fec {

void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed) {
    assert(bits.size() == 8 * packed.size());
    for (std::size_t byte = 0; byte < packed.size(); ++byte) {
        unsigned value = 0;
        for (std::size_t bit = 0; bit < 8; ++bit) value = value << 1 | bits[8 * byte + bit];
        packed[byte] = static_cast<std::uint8_t>(value);
    }
}

void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits) {
    assert(bits.size() == 8 * packed.size());
    // Eight bits in one word: copies of the byte, of which each keeps its bit. The first bit is the highest.
    constexpr std::uint64_t kCopies = 0x0101010101010101;
    constexpr std::uint64_t kOwnBits =
        std::endian::native == std::endian::little ? 0x0102040810204080 : 0x8040201008040201;
    constexpr std::uint64_t kCarry = 0x7f7f7f7f7f7f7f7f;
    for (std::size_t byte = 0; byte < packed.size(); ++byte) {
        const std::uint64_t own = (packed[byte] * kCopies) & kOwnBits;
        const std::uint64_t ones = ((own + kCarry) >> 7) & kCopies;
        std::memcpy(&bits[8 * byte], &ones, sizeof(ones));
    }
}

}  // namespace tidemill::fec
