#include "tidemill/fec/bit_packing.hpp"

#include <cassert>
#include <cstddef>

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
    for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = packed[bit / 8] >> (7 - bit % 8) & 1;
}

}  // namespace tidemill::fec
