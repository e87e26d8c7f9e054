#include "tidemill/fec/bit_packing.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace tidemill::fec;

TEST_CASE("the first bit is the most significant one") {
    constexpr std::array<std::uint8_t, 16> bits = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1};
    std::array<std::uint8_t, 2> packed{};
    pack_bits(bits, packed);
    CHECK(packed == std::array<std::uint8_t, 2>{0x82, 0x47});
}

TEST_CASE("unpacking and packing give the bytes back") {
    CHECK(rc::check([](const std::vector<std::uint8_t>& bytes) {
        std::vector<std::uint8_t> bits(8 * bytes.size());
        unpack_bits(bytes, bits);
        std::vector<std::uint8_t> packed(bytes.size());
        pack_bits(bits, packed);
        RC_ASSERT(packed == bytes);
    }));
}
