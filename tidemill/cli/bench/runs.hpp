#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemill::cli {

/// How often each thing is measured whose median is told.
inline constexpr int kRuns = 9;

inline double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

inline double median(const std::vector<double>& values) {
    return quantile(values, 0.5);
}

/// Half the distance between the quartiles, in percent of the median.
inline double spread_percent(const std::vector<double>& values) {
    return 50 * (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

}  // namespace tidemill::cli
