#include "tidemill/dvbs2/sync/header_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/sync/frequency_estimator.hpp"
#include "tidemill/dvbs2/sync/internal/header_correlation.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr float kFrequencyStep = 1.0F / 180;  // costs 0.9 dB halfway between two
constexpr int kStepsEachSide = 14;            // 0.08, three deviations of the first guess at -2 dB
constexpr float kLargestFrequency = 0.12F;
constexpr std::size_t kChunk = 4096;
constexpr float kThreshold = 6.5F;  // over the mean for noise: two chances of exp(-6.5)

// First guess: the angle of the better of the two sums that the pilot bit allows.
float differential_frequency(std::span<const Iq, kHeaderSymbols> symbols) {
    std::array<float, kHeaderSymbols> re{};
    std::array<float, kHeaderSymbols> im{};
    internal::multiply_neighbours(symbols, re, im);
    const internal::HeaderSums sums = internal::correlate_at(re, im);
    const Iq best = std::norm(sums.sof + sums.pls) > std::norm(sums.sof - sums.pls) ? sums.sof + sums.pls
                                                                                    : sums.sof - sums.pls;
    return std::arg(best * Iq{0, -1}) / static_cast<float>(dsp::kTwoPi);
}

struct Guess {
    HeaderMatch match;
    float frequency = 0;
};

Guess best_on_grid(std::span<const Iq, kHeaderSymbols> symbols, float centre) {
    Guess best;
    for (int step = -kStepsEachSide; step <= kStepsEachSide; ++step) {
        const float frequency = centre + static_cast<float>(step) * kFrequencyStep;
        if (std::abs(frequency) > kLargestFrequency) {
            continue;
        }
        const HeaderMatch match = match_header(symbols, frequency);
        if (match.quality > best.match.quality) {
            best = {match, frequency};
        }
    }
    return best;
}

}  // namespace

HeaderHit examine_header(std::span<const Iq, kHeaderSymbols> symbols) {
    float centre = differential_frequency(symbols);
    // Offsets stay below a quarter, so what turns faster is a conjugated spectrum.
    const bool inverted = std::abs(centre) > 0.25F;
    std::array<Iq, kHeaderSymbols> upright;
    std::ranges::transform(symbols, upright.begin(), [&](Iq s) { return inverted ? std::conj(s) : s; });
    if (inverted) {
        centre = std::copysign(0.5F, centre) - centre;
    }
    const Guess guess = best_on_grid(upright, centre);
    FrequencyEstimator estimator(guess.frequency);
    estimator.add(upright, header_references(guess.match.code));
    const auto frequency = guess.frequency + static_cast<float>(estimator.offset());
    const HeaderMatch match = match_header(upright, frequency);
    if (match.quality < guess.match.quality) {
        return {guess.match.code, guess.match.quality, guess.frequency, inverted};
    }
    return {match.code, match.quality, frequency, inverted};
}

std::size_t HeaderSearch::scan(std::span<const Iq> symbols, std::vector<std::size_t>& places) {
    if (symbols.size() < kHeaderSymbols) {
        return 0;
    }
    const std::size_t offsets = symbols.size() - kHeaderSymbols + 1;
    for (std::size_t start = 0; start < offsets; start += kChunk) {
        const std::size_t count = std::min(kChunk, offsets - start);
        const auto chunk = symbols.subspan(start, count + kHeaderSymbols - 1);
        re_.resize(chunk.size());
        im_.resize(chunk.size());
        metric_.resize(count);
        internal::multiply_neighbours(chunk, re_, im_);
        const float energy = internal::correlate_headers(re_, im_, metric_);
        const float threshold = kThreshold * internal::kHeaderProducts * energy;
        for (std::size_t i = 0; i < count; ++i) {
            if (metric_[i] > threshold) {
                places.push_back(start + i);
            }
        }
    }
    return offsets;
}

}  // namespace tidemill::dvbs2
