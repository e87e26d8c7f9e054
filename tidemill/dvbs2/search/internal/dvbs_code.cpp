#include "tidemill/dvbs2/search/internal/dvbs_code.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tidemill::dvbs2::internal {

namespace {

constexpr unsigned kStates = 64;  // of the six bits before, the newest on top

using Metrics = float[kStates];  // no std::array: with its checks no loop becomes vectors

// How the bit of a generator is sent that belongs to the newest bit and the six before.
float sent_sign(unsigned bits, unsigned generator) {
    return (std::popcount(bits & generator) & 1) != 0 ? -1.0F : 1.0F;
}

float largest(const Metrics& metrics) {
    constexpr unsigned kLanes = 8;
    float most[kLanes];
    std::copy_n(metrics, kLanes, most);
    for (unsigned state = kLanes; state < kStates; state += kLanes)
        for (unsigned lane = 0; lane < kLanes; ++lane)
            most[lane] = std::max(most[lane], metrics[state + lane]);
    return std::ranges::max(most);
}

constexpr unsigned kWordBits = 32;
constexpr auto kBits = [] {
    std::array<std::uint32_t, kStates> bits{};
    for (unsigned state = 0; state < kStates; ++state) bits[state] = std::uint32_t{1} << state % kWordBits;
    return bits;
}();

// Bit s: a[s] > b[s].
std::uint64_t greater(const Metrics& a, const Metrics& b) {
    std::uint32_t bits[kStates];
    for (unsigned state = 0; state < kStates; ++state)
        bits[state] = (a[state] > b[state] ? ~0U : 0U) & kBits[state];
    std::uint32_t low = 0, high = 0;
    for (unsigned state = 0; state < kWordBits; ++state) low |= bits[state];
    for (unsigned state = kWordBits; state < kStates; ++state) high |= bits[state];
    return std::uint64_t{high} << kWordBits | low;
}

/// Walks along the code's trellis by Viterbi's rule.
class TrellisWalk {
  public:
    TrellisWalk() {
        for (unsigned state = 0; state < kStates; ++state) {
            const unsigned input = state >> 5, older = (state & 31U) << 1;
            even_x_[state] = sent_sign(input << 6 | older, kDvbsX);
            even_y_[state] = sent_sign(input << 6 | older, kDvbsY);
            odd_x_[state] = sent_sign(input << 6 | older | 1U, kDvbsX);
            odd_y_[state] = sent_sign(input << 6 | older | 1U, kDvbsY);
        }
    }

    // One bit of information on; a bit that was not sent is 0. Loops of constant length over arrays of this
    // function become vectors.
    void step(float x, float y) {
        Metrics even, odd;
        for (unsigned state = 0; state < kStates / 2; ++state) {
            even[state] = even[state + kStates / 2] = metric_[2 * state];
            odd[state] = odd[state + kStates / 2] = metric_[2 * state + 1];
        }
        for (unsigned state = 0; state < kStates; ++state)
            even[state] += x * even_x_[state] + y * even_y_[state];
        for (unsigned state = 0; state < kStates; ++state)
            odd[state] += x * odd_x_[state] + y * odd_y_[state];
        choices_.push_back(greater(odd, even));
        for (unsigned state = 0; state < kStates; ++state) even[state] = std::max(even[state], odd[state]);
        const float best = largest(even);
        for (unsigned state = 0; state < kStates; ++state) metric_[state] = even[state] - best;
    }

    std::vector<std::uint8_t> bits() const {
        std::vector<std::uint8_t> bits(choices_.size());
        auto state = static_cast<unsigned>(std::ranges::max_element(metric_) - metric_);
        for (std::size_t n = bits.size(); n-- > 0;) {
            bits[n] = static_cast<std::uint8_t>(state >> 5);
            state = (state & 31U) << 1 | (choices_[n] >> state & 1U);
        }
        return bits;
    }

  private:
    // Signs of the bits that lead to a state from the one before whose oldest bit is 0, and 1.
    Metrics even_x_, even_y_, odd_x_, odd_y_;
    Metrics metric_{};
    std::vector<std::uint64_t> choices_;
};

}  // namespace

std::size_t DvbsRate::sent_bits() const {
    return static_cast<std::size_t>(std::ranges::count(x, '1') + std::ranges::count(y, '1'));
}

std::size_t DvbsRate::symbols() const {
    return std::lcm(sent_bits(), std::size_t{2}) / 2;
}

std::vector<std::uint8_t> decode_dvbs_code(const DvbsRate& rate, std::span<const float> soft_bits) {
    TrellisWalk walk;
    std::size_t at = 0;
    for (std::size_t n = 0; at + 2 <= soft_bits.size(); n = (n + 1) % rate.information_bits()) {
        const float x = rate.x[n] == '1' ? soft_bits[at++] : 0;
        const float y = rate.y[n] == '1' ? soft_bits[at++] : 0;
        walk.step(x, y);
    }
    return walk.bits();
}

}  // namespace tidemill::dvbs2::internal
