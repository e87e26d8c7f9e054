#include "tidemill/dvbs2/pl_scrambler.hpp"

#include <array>
#include <cassert>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/detail_gold_sequences.hpp"
#include "tidemill/dvbs2/modcod.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kLength = kMaxFrameSymbols - kHeaderSymbols;

}  // namespace

PlScrambler::PlScrambler(int gold_code) {
    if (gold_code < 0 || gold_code >= static_cast<int>(detail::kGoldPeriod) - 1) {
        throw std::invalid_argument(fmt::format("gold code {} does not exist: choose one from 0 to {}",
                                                gold_code, detail::kGoldPeriod - 2));
    }
    const auto [x, y] = detail::gold_sequences();
    const auto n = static_cast<std::size_t>(gold_code);
    constexpr std::array<dsp::Iq, 4> kUndo{{{1, 0}, {0, -1}, {-1, 0}, {0, 1}}};
    constexpr dsp::Iq kPilot{std::numbers::sqrt2_v<float> / 2, -std::numbers::sqrt2_v<float> / 2};
    rotations_.reserve(kLength);
    descrambling_.reserve(kLength);
    pilot_references_.reserve(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
        rotations_.push_back(x[(i + n) % detail::kGoldPeriod] ^ y[i]);
        descrambling_.push_back(kUndo[rotations_.back()]);
        pilot_references_.push_back(kPilot * descrambling_.back());
    }
}

void PlScrambler::scramble(std::span<dsp::Iq> symbols) const {
    assert(symbols.size() <= kLength);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        // Written out, because the product of std::complex looks for infinities.
        const auto [re, im] = std::pair{symbols[i].real(), symbols[i].imag()};
        const auto [undo_re, undo_im] = std::pair{descrambling_[i].real(), descrambling_[i].imag()};
        symbols[i] = {re * undo_re + im * undo_im, im * undo_re - re * undo_im};
    }
}

}  // namespace tidemill::dvbs2
