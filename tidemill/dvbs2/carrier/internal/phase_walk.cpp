#include "tidemill/dvbs2/carrier/internal/phase_walk.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "tidemill/dsp/complex_product.hpp"

namespace tidemill::dvbs2::internal {

namespace {

using BlockSums = std::span<const std::complex<double>>;

// In blocks.
struct BlockLags {
    std::size_t first, last;

    double count() const { return static_cast<double>(last - first + 1); }
    double middle() const { return 0.5 * static_cast<double>(first + last); }
};

constexpr BlockLags kNearLags{1, 3}, kFarLags{7, 11};
constexpr std::size_t kLeastBlocks = 4 * kFarLags.last;
constexpr double kSureWalkSigmas = 3;

double agreement_at(BlockSums sums, std::size_t lag) {
    std::complex<double> agreed{};
    for (std::size_t b = lag; b < sums.size(); ++b) agreed += dsp::product(sums[b], std::conj(sums[b - lag]));
    return std::abs(agreed) / static_cast<double>(sums.size() - lag);
}

// Mean length of the mean products of blocks so far apart.
double agreement_over(BlockSums sums, BlockLags lags) {
    double sum = 0;
    for (std::size_t lag = lags.first; lag <= lags.last; ++lag) sum += agreement_at(sums, lag);
    return sum / lags.count();
}

// The phase of a sweep is a parabola, and blocks are evenly spaced.
std::vector<std::complex<double>> sums_beside(const Sweep& sweep, std::span<const PowerBlock> blocks,
                                              int order) {
    const auto phase_at = [&](std::size_t block) { return order * sweep.phase_at(blocks[block].place); };
    auto turn = dsp::back_turn(phase_at(0)), step = dsp::back_turn(phase_at(1) - phase_at(0));
    const auto bend = dsp::back_turn(phase_at(2) - 2 * phase_at(1) + phase_at(0));
    std::vector<std::complex<double>> sums;
    sums.reserve(blocks.size());
    for (const PowerBlock& block : blocks) {
        sums.push_back(dsp::product(block.sum, turn));
        turn = dsp::product(turn, step);
        step = dsp::product(step, bend);
    }
    return sums;
}

}  // namespace

// Over a distance the mean product shrinks by exp(-order^2 walk distance / 2).
double walk_beside(const Sweep& sweep, std::span<const PowerBlock> blocks, int order, double expected) {
    if (blocks.size() < kLeastBlocks) return expected;
    const auto sums = sums_beside(sweep, blocks, order);
    const auto count = static_cast<double>(sums.size());
    double energy = 0;
    for (const auto& sum : sums) energy += std::norm(sum) / count;
    const double sigma = energy / std::sqrt(count);
    const double near = agreement_over(sums, kNearLags), far = agreement_over(sums, kFarLags);
    const double distance = (kFarLags.middle() - kNearLags.middle()) * span_of(blocks) / (count - 1);
    const double shrinks = 0.5 * order * order * distance;
    const double doubt = kSureWalkSigmas * sigma * std::sqrt(1 / kNearLags.count() + 1 / kFarLags.count());
    if (!(far + doubt < near * std::exp(-shrinks * expected))) return expected;
    return std::log(near / std::max(far, sigma)) / shrinks;
}

}  // namespace tidemill::dvbs2::internal
