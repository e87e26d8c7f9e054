#include "tidemill/dvbs2/send/qpsk_mapper.hpp"

#include <cassert>
#include <cstring>
#include <numbers>

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kBytes = 256;
constexpr float kPart = std::numbers::sqrt2_v<float> / 2;

// Where the two bits of a byte's symbol stand.
constexpr std::size_t shift_of(std::size_t symbol) {
    return 6 - 2 * symbol;
}

}  // namespace

QpskMapper::QpskMapper(std::span<const std::uint8_t> turns)
    : turns_(turns.size() / kSymbols), points_(kBytes) {
    assert(turns.size() % kSymbols == 0);
    // (i, q) becomes (-q, i), (-i, -q), (q, -i).
    static constexpr std::array<unsigned, 4> kExchanged{0, 1, 0, 1}, kFlipped{0, 2, 3, 1};
    for (std::size_t i = 0; i < turns.size(); ++i) {
        Turn& turn = turns_[i / kSymbols];
        turn.exchanged |= static_cast<std::uint8_t>(kExchanged[turns[i]] << shift_of(i % kSymbols));
        turn.flipped |= static_cast<std::uint8_t>(kFlipped[turns[i]] << shift_of(i % kSymbols));
    }
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
        for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
            const std::size_t bits = byte >> shift_of(symbol);
            points_[byte][symbol] = {(bits & 2) != 0 ? -kPart : kPart, (bits & 1) != 0 ? -kPart : kPart};
        }
    }
}

// Four symbols as one piece of memory: assigned, their parts would be copied one by one.
void QpskMapper::map(std::span<const std::uint8_t> bytes, std::size_t before,
                     std::span<dsp::Iq> symbols) const {
    assert(symbols.size() == kSymbols * bytes.size() && before + bytes.size() <= turns_.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Turn turn = turns_[before + i];
        const unsigned differing = (bytes[i] ^ bytes[i] >> 1) & turn.exchanged;
        const unsigned turned = bytes[i] ^ differing ^ differing << 1 ^ turn.flipped;
        std::memcpy(static_cast<void*>(&symbols[kSymbols * i]), points_[turned].data(),
                    sizeof(points_[turned]));
    }
}

}  // namespace tidemill::dvbs2
