#include "tidemill/dvbs2/pl_scrambler.hpp"

#include <array>
#include <cassert>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/modcod.hpp"

namespace tidemill::dvbs2 {

namespace {

// EN 302 307-1, 5.5.4: two maximal sequences of period 2^18 - 1.
constexpr std::size_t kPeriod = (1U << 18U) - 1;
constexpr std::size_t kQuadratureShift = 1U << 17U;
constexpr std::size_t kLength = kMaxFrameSymbols - kHeaderSymbols;

std::vector<std::uint8_t> x_sequence() {
    std::vector<std::uint8_t> x(kPeriod);
    x[0] = 1;
    for (std::size_t i = 0; i + 18 < kPeriod; ++i) {
        x[i + 18] = x[i + 7] ^ x[i];
    }
    return x;
}

std::vector<std::uint8_t> y_sequence() {
    std::vector<std::uint8_t> y(kPeriod, 1);
    for (std::size_t i = 0; i + 18 < kPeriod; ++i) {
        y[i + 18] = y[i + 10] ^ y[i + 7] ^ y[i + 5] ^ y[i];
    }
    return y;
}

}  // namespace

PlScrambler::PlScrambler(int gold_code) {
    if (gold_code < 0 || gold_code >= static_cast<int>(kPeriod) - 1) {
        throw std::invalid_argument(
            fmt::format("gold code {} does not exist: choose one from 0 to {}", gold_code, kPeriod - 2));
    }
    static const auto kX = x_sequence();
    static const auto kY = y_sequence();
    const auto n = static_cast<std::size_t>(gold_code);
    const auto z = [&](std::size_t i) { return kX[(i + n) % kPeriod] ^ kY[i % kPeriod]; };
    constexpr std::array<dsp::Iq, 4> kUndo{{{1, 0}, {0, -1}, {-1, 0}, {0, 1}}};
    constexpr dsp::Iq kPilot{std::numbers::sqrt2_v<float> / 2, -std::numbers::sqrt2_v<float> / 2};
    rotations_.reserve(kLength);
    descrambling_.reserve(kLength);
    pilot_references_.reserve(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
        rotations_.push_back(static_cast<std::uint8_t>(2 * z(i + kQuadratureShift) + z(i)));
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
