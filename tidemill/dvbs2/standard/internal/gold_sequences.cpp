#include "tidemill/dvbs2/standard/internal/gold_sequences.hpp"

#include <vector>

namespace tidemill::dvbs2::internal {

namespace {

using Sequence = std::vector<std::uint8_t>;

// EN 302 307-1, 5.5.4: two maximal sequences of period 2^18 - 1.
Sequence x_sequence() {
    Sequence x(kGoldPeriod);
    x[0] = 1;
    for (std::size_t i = 0; i + 18 < kGoldPeriod; ++i) x[i + 18] = x[i + 7] ^ x[i];
    return x;
}

Sequence y_sequence() {
    Sequence y(kGoldPeriod, 1);
    for (std::size_t i = 0; i + 18 < kGoldPeriod; ++i) y[i + 18] = y[i + 10] ^ y[i + 7] ^ y[i + 5] ^ y[i];
    return y;
}

// Each bit with the one half a period further on, which counts twice.
Sequence quarter_turns(const Sequence& bits) {
    constexpr std::size_t kQuadratureShift = 1U << 17U;
    Sequence turns(kGoldPeriod);
    for (std::size_t i = 0; i < kGoldPeriod; ++i) {
        turns[i] = static_cast<std::uint8_t>(2 * bits[(i + kQuadratureShift) % kGoldPeriod] + bits[i]);
    }
    return turns;
}

}  // namespace

GoldSequences gold_sequences() {
    static const Sequence kX = quarter_turns(x_sequence());
    static const Sequence kY = quarter_turns(y_sequence());
    return {kX, kY};
}

}  // namespace tidemill::dvbs2::internal
