#include "tidemill/dvbs2/search/internal/occupied_stretches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

namespace tidemill::dvbs2::internal {

namespace {

// Share of the bins that are taken for empty, less those at the ends that a radio's filter has taken down.
constexpr double kEmptyShare = 0.3;
constexpr double kOccupied = 1.5;  // times the empty ones' power
constexpr double kFoot = 1.18;     // width of what is so occupied over a symbol rate: 1.07 to 1.33

// Each width is looked at so coarsely that what repeats, as dummy frames do, has no lines any more.
constexpr std::size_t kFinest = 8;
constexpr std::size_t kFewestBins = 24;
constexpr double kWidest = 0.8;  // of the band
constexpr double kSame = 0.15;   // of the width, by which middle and width of one may differ

double quantile(std::span<const double> power, double share) {
    std::vector<double> sorted(power.begin(), power.end());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(power.size()));
    std::ranges::nth_element(sorted, at);
    return *at;
}

bool are_one(const OccupiedStretch& a, const OccupiedStretch& b) {
    return std::abs(a.middle - b.middle) < kSame * b.width && std::abs(a.width - b.width) < kSame * b.width;
}

void add_stretches(const ObservedSpectrum& s, double factor, std::vector<OccupiedStretch>& found) {
    const double floor = quantile(s.power, kEmptyShare);
    const auto widest = static_cast<std::size_t>(kWidest * static_cast<double>(s.power.size()));
    std::size_t first = 0;
    for (std::size_t k = 0; k <= s.power.size(); ++k) {
        if (k < s.power.size() && s.power[k] > kOccupied * floor) continue;
        const std::size_t begin = std::exchange(first, k + 1), bins = k - begin;
        if (bins < kFewestBins || bins >= std::min(2 * kFewestBins, widest)) continue;
        const OccupiedStretch one{.middle = static_cast<double>(begin + k) / 2 * factor - 0.5,
                                  .width = static_cast<double>(bins) / kFoot * factor,
                                  .level = quantile(std::span(s.power).subspan(begin, bins), 0.5) - floor,
                                  .floor = floor};
        if (std::ranges::none_of(found, [&](const OccupiedStretch& other) { return are_one(one, other); }))
            found.push_back(one);
    }
}

}  // namespace

std::vector<OccupiedStretch> occupied_stretches(const ObservedSpectrum& spectrum) {
    std::vector<OccupiedStretch> found;
    for (std::size_t factor = std::bit_floor(spectrum.power.size() / kFewestBins); factor >= kFinest;
         factor /= 2)
        add_stretches(coarser(spectrum, factor), static_cast<double>(factor), found);
    return found;
}

}  // namespace tidemill::dvbs2::internal
