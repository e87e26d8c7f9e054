#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/standard/internal/gold_sequences.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kLength = kMaxFrameSymbols - kHeaderSymbols;

constexpr std::uint64_t signs_of(float re, float im) {
    return std::bit_cast<std::uint64_t>(std::array{re, im});
}

// Quarter turns only exchange the parts and change signs: both parts at once, as one word of memory.
void turn(const dsp::Iq& symbol, unsigned quarters, dsp::Iq& turned) {
    static constexpr std::array<std::uint64_t, 4> kSigns = {signs_of(0.0F, 0.0F), signs_of(-0.0F, 0.0F),
                                                            signs_of(-0.0F, -0.0F), signs_of(0.0F, -0.0F)};
    std::uint64_t parts;
    std::memcpy(&parts, &symbol, sizeof(parts));
    parts = std::rotl(parts, static_cast<int>(32 * (quarters & 1))) ^ kSigns[quarters];
    std::memcpy(static_cast<void*>(&turned), &parts, sizeof(parts));
}

}  // namespace

std::optional<int> gold_code_of_root(std::uint32_t root) {
    constexpr int kCodes = (1 << 18) - 1;
    std::uint32_t state = 1;
    for (int code = 0; code < kCodes; ++code) {
        if (state == root) return code;
        state = ((state ^ state >> 7) & 1) << 17 | state >> 1;  // 1 + x^7 + x^18
    }
    return std::nullopt;
}

dsp::Iq turned(const dsp::Iq& symbol, unsigned quarters) {
    dsp::Iq result;
    turn(symbol, quarters, result);
    return result;
}

PlScrambler::PlScrambler(int gold_code) {
    if (gold_code < 0 || gold_code >= static_cast<int>(internal::kGoldPeriod) - 1) {
        throw Dvbs2Error(fmt::format("gold code {} does not exist: choose one from 0 to {}", gold_code,
                                     internal::kGoldPeriod - 2));
    }
    const auto [x, y] = internal::gold_sequences();
    const auto n = static_cast<std::size_t>(gold_code);
    constexpr std::array<dsp::Iq, 4> kUndo{{{1, 0}, {0, -1}, {-1, 0}, {0, 1}}};
    constexpr dsp::Iq kPilot{std::numbers::sqrt2_v<float> / 2, -std::numbers::sqrt2_v<float> / 2};
    rotations_.reserve(kLength);
    descrambling_.reserve(kLength);
    pilot_references_.reserve(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
        rotations_.push_back(x[(i + n) % internal::kGoldPeriod] ^ y[i]);
        descrambling_.push_back(kUndo[rotations_.back()]);
        pilot_references_.push_back(kPilot * descrambling_.back());
    }
}

void PlScrambler::scramble(std::span<const dsp::Iq> symbols, std::size_t place,
                           std::span<dsp::Iq> scrambled) const {
    assert(place + symbols.size() <= kLength && scrambled.size() == symbols.size());
    const std::uint8_t* turns = &rotations_[place];
    for (std::size_t i = 0; i < symbols.size(); ++i) turn(symbols[i], turns[i], scrambled[i]);
}

}  // namespace tidemill::dvbs2
