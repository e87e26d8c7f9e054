#include "tidemill/fec/ldpc_range.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdlib>

#include "tidemill/fec/ldpc_settings.hpp"

namespace tidemill::fec {
namespace {

// By code rate: the mean magnitude, in units of the natural logarithm, of QPSK at EN 302 307-1, table 13.
constexpr double kUsualMagnitude[] = {1.6, 1.9, 2.2, 2.8, 3.6, 4.3, 5.2, 6.0, 6.7, 8.4, 8.8};

// Some 3 dB over the threshold; from there they are brought back to a decibel over it, or less.
constexpr double kLoud = 2;
constexpr double kQuiet = 1.25;

// Enough of them, of all bits of a symbol.
double mean_magnitude(std::span<const Llr> llrs) {
    constexpr std::size_t kStride = 17;
    int sum = 0, count = 0;
    for (std::size_t i = 0; i < llrs.size(); i += kStride, ++count) sum += std::abs(int{llrs[i]});
    return sum / static_cast<double>(std::max(count, 1));
}

}  // namespace

int ldpc_halvings(const Dvbs2Code& code, std::span<const Llr> llrs) {
    const double usual = kUsualMagnitude[static_cast<std::size_t>(code.rate)] * llr_scale(code);
    double mean = mean_magnitude(llrs);
    int halvings = 0;
    if (mean <= kLoud * usual) return halvings;
    for (; mean > kQuiet * usual && halvings < kMostLdpcHalvings; mean /= 2) ++halvings;
    return halvings;
}

void halve_llrs(std::span<const Llr> llrs, int times, std::span<Llr> to) {
    assert(to.size() == llrs.size());
    const int divisor = 1 << times;
    std::ranges::transform(llrs, to.begin(), [&](Llr llr) { return static_cast<Llr>(llr / divisor); });
}

}  // namespace tidemill::fec
