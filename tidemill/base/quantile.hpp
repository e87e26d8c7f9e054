#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace tidemill {

/// The middle one of at least one value, of an even number the upper; reorders them.
template <class Values>
auto middle_value(Values&& values) {
    const auto middle = std::begin(values) + std::ssize(values) / 2;
    std::nth_element(std::begin(values), middle, std::end(values));
    return *middle;
}

/// The value that a share (0 to 1) of all, at least one, are below.
inline double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

inline double median(std::vector<double> values) {
    return middle_value(values);
}

}  // namespace tidemill
