#include "tidemill/dvbs2/search/gold_search.hpp"

#include <array>
#include <cmath>

#include "tidemill/dvbs2/standard/internal/gold_sequences.hpp"

namespace tidemill::dvbs2 {

namespace {

// A sum of n random products of power p exceeds k sqrt(n p) with probability exp(-k^2): 3e-15 for all codes.
constexpr double kSureDeviations = 7;

}  // namespace

void GoldSearch::add(std::span<const dsp::Iq> frame, const FrameInfo& info) {
    for (int block = 0; block < layout_of(info.pls).pilot_blocks; ++block) {
        const auto start = static_cast<std::size_t>(FrameLayout::pilot_start(block));
        for (std::size_t i = start; i + 1 < start + kPilotBlockSymbols; ++i) {
            products_.push_back({i - kHeaderSymbols, frame[i] * std::conj(frame[i + 1])});
        }
    }
}

std::optional<int> GoldSearch::best() const {
    const auto [x, y] = internal::gold_sequences();
    double power = 0;
    for (const Product& product : products_) power += std::norm(product.value);
    const double sure = kSureDeviations * kSureDeviations * power;
    std::optional<int> best;
    double best_score = sure;
    for (std::size_t code = 0; code + 1 < internal::kGoldPeriod; ++code) {
        std::array<dsp::Iq, 4> sums{};  // by how far the code turns the first symbol against the second
        for (const Product& product : products_) {
            const std::size_t at = (code + product.place) % internal::kGoldPeriod;
            const std::size_t next = at + 1 == internal::kGoldPeriod ? 0 : at + 1;
            const unsigned first = x[at] ^ y[product.place];
            const unsigned second = x[next] ^ y[product.place + 1];
            sums[(first - second) & 3U] += product.value;
        }
        const dsp::Iq odd = sums[1] - sums[3];
        const double score = std::norm(sums[0] - sums[2] + dsp::Iq(odd.imag(), -odd.real()));
        if (score > best_score) {
            best_score = score;
            best = static_cast<int>(code);
        }
    }
    return best;
}

}  // namespace tidemill::dvbs2
