#pragma once

#include <vector>

#include "tidemill/base/quantile.hpp"

namespace tidemill::cli {

/// How often each thing is measured whose median is reported.
inline constexpr int kRuns = 9;

/// Half the distance between the quartiles, in percent of the median.
inline double spread_percent(const std::vector<double>& values) {
    return 50 * (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

}  // namespace tidemill::cli
