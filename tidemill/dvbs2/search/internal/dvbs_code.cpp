#include "tidemill/dvbs2/search/internal/dvbs_code.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tidemill::dvbs2::internal {

namespace {

constexpr unsigned kStates = 64;  // of the six bits before, the newest on top

/// Walks along the code's trellis by Viterbi's rule.
class TrellisWalk {
  public:
    TrellisWalk() {
        for (unsigned bits = 0; bits < sent_.size(); ++bits)
            sent_[bits] = static_cast<std::uint8_t>((std::popcount(bits & kDvbsX) & 1) << 1 |
                                                    (std::popcount(bits & kDvbsY) & 1));
    }

    // One bit of information on; a bit that was not sent is 0.
    void step(float x, float y) {
        const std::array<float, 4> gain{x + y, x - y, y - x, -x - y};
        std::array<float, kStates> next;
        std::uint64_t choices = 0;
        for (unsigned state = 0; state < kStates; ++state) {
            const unsigned input = state >> 5, older = (state & 31U) << 1;
            const float even = metric_[older] + gain[sent_[input << 6 | older]];
            const float odd = metric_[older | 1U] + gain[sent_[input << 6 | older | 1U]];
            choices |= static_cast<std::uint64_t>(odd > even) << state;
            next[state] = std::max(even, odd);
        }
        const float best = std::ranges::max(next);
        std::ranges::transform(next, metric_.begin(), [best](float metric) { return metric - best; });
        choices_.push_back(choices);
    }

    std::vector<std::uint8_t> bits() const {
        std::vector<std::uint8_t> bits(choices_.size());
        auto state = static_cast<unsigned>(std::ranges::max_element(metric_) - metric_.begin());
        for (std::size_t n = bits.size(); n-- > 0;) {
            bits[n] = static_cast<std::uint8_t>(state >> 5);
            state = (state & 31U) << 1 | (choices_[n] >> state & 1U);
        }
        return bits;
    }

  private:
    std::array<std::uint8_t, 2 * kStates> sent_{};  // X and Y, by the newest bit and the six before
    std::array<float, kStates> metric_{};
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
