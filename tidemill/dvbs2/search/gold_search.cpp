#include "tidemill/dvbs2/search/gold_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tidemill/dvbs2/standard/internal/gold_sequences.hpp"

namespace tidemill::dvbs2 {

namespace {

// A sum of n random products of power p exceeds k sqrt(n p) with probability exp(-k^2): 3e-15 for all codes.
constexpr double kSureDeviations = 7;
constexpr std::size_t kCodesAtOnce = 256;

using TurnSums = std::array<dsp::Iq, 4>;  // by how far a code turns the first symbol against the second

// The values of x at each symbol and the next one, 4 times the first and the second; a block's more than a
// period.
std::vector<std::uint8_t> x_pairs() {
    const auto x = internal::gold_sequences().x;
    std::vector<std::uint8_t> pairs(internal::kGoldPeriod + kCodesAtOnce);
    for (std::size_t at = 0; at < pairs.size(); ++at)
        pairs[at] = static_cast<std::uint8_t>(4 * x[at % internal::kGoldPeriod] +
                                              x[(at + 1) % internal::kGoldPeriod]);
    return pairs;
}

// How far the symbol at this place is turned against the next one, by what x says of the two.
std::array<std::uint8_t, 16> turns_at(std::size_t place) {
    const auto y = internal::gold_sequences().y;
    std::array<std::uint8_t, 16> turns;
    for (unsigned pair = 0; pair < turns.size(); ++pair)
        turns[pair] =
            static_cast<std::uint8_t>(((pair >> 2U ^ y[place]) - ((pair & 3U) ^ y[place + 1])) & 3U);
    return turns;
}

double score_of(const TurnSums& sums) {
    const dsp::Iq odd = sums[1] - sums[3];
    return std::norm(sums[0] - sums[2] + dsp::Iq(odd.imag(), -odd.real()));
}

}  // namespace

void GoldSearch::add(std::span<const dsp::Iq> frame, const FrameInfo& info) {
    for (int block = 0; block < layout_of(info.pls).pilot_blocks; ++block) {
        const auto start = static_cast<std::size_t>(FrameLayout::pilot_start(block));
        for (std::size_t i = start; i + 1 < start + kPilotBlockSymbols; ++i) {
            products_.push_back({i - kHeaderSymbols, frame[i] * std::conj(frame[i + 1])});
        }
    }
}

// Codes go by in blocks, and within one product by product: the sums of a code are then next touched after
// all others of its block, and no addition waits for the one before it.
std::optional<int> GoldSearch::best() const {
    double power = 0;
    for (const Product& product : products_) power += std::norm(product.value);
    std::optional<int> best;
    double best_score = kSureDeviations * kSureDeviations * power;
    const std::vector<std::uint8_t> pairs = x_pairs();
    std::array<TurnSums, kCodesAtOnce> block;
    for (std::size_t first = 0; first + 1 < internal::kGoldPeriod; first += kCodesAtOnce) {
        const std::size_t count = std::min(kCodesAtOnce, internal::kGoldPeriod - 1 - first);
        block.fill({});
        for (const Product& product : products_) {
            const std::array<std::uint8_t, 16> turns = turns_at(product.place);
            const std::uint8_t* const pair = &pairs[(first + product.place) % internal::kGoldPeriod];
            for (std::size_t n = 0; n < count; ++n) block[n][turns[pair[n]]] += product.value;
        }
        for (std::size_t n = 0; n < count; ++n) {
            const double score = score_of(block[n]);
            if (score > best_score) {
                best_score = score;
                best = static_cast<int>(first + n);
            }
        }
    }
    return best;
}

}  // namespace tidemill::dvbs2
