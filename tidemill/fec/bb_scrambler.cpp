#include "tidemill/fec/bb_scrambler.hpp"

#include <array>
#include <cassert>
#include <cstddef>

namespace tidemill::fec {
namespace {

constexpr std::size_t kLongestBbframe = 58192 / 8;

// Generator 1 + x^14 + x^15, stages 1 to 15 loaded with 100101010000000 (EN 302 307-1, 5.2.2).
std::array<std::uint8_t, kLongestBbframe> make_sequence() {
    std::array<std::uint8_t, kLongestBbframe> sequence{};
    unsigned stages = 0b000000010101001;  // stage i at bit i - 1
    for (std::uint8_t& byte : sequence) {
        for (int bit = 0; bit < 8; ++bit) {
            const unsigned feedback = (stages >> 13 ^ stages >> 14) & 1;
            stages = stages << 1 | feedback;
            byte = static_cast<std::uint8_t>(byte << 1 | feedback);
        }
    }
    return sequence;
}

}  // namespace

void bb_scramble(std::span<std::uint8_t> bbframe) {
    static const auto sequence = make_sequence();
    assert(bbframe.size() <= sequence.size());
    for (std::size_t i = 0; i < bbframe.size(); ++i) bbframe[i] ^= sequence[i];
}

}  // namespace tidemill::fec
