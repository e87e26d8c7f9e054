#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/base/quantile.hpp"

namespace tidemill::testing {

/// On a machine that others use nothing is to be had within 5 %: TIDEMILL_QUIET says that nobody does.
inline bool is_quiet() {
    return std::getenv("TIDEMILL_QUIET") != nullptr;
}

/// The least of some attempts, until one is at most `most`: other programs make a period longer and none
/// shorter.
double least_of(double most, const auto& measure) {
    double least = measure();
    for (int attempt = 1; attempt < 8 && least > most; ++attempt) least = std::min(least, measure());
    return least;
}

/// Median for times that are to be near a forecast: the least of such would be as far off as the luckiest
/// attempt.
double median_of_five(const auto& measure) {
    std::vector<double> all;
    for (int attempt = 0; attempt < 5; ++attempt) all.push_back(measure());
    return median(all);
}

/// From one batch to the next, where so many are under way: the median over spans of about half of the times
/// at which they came. From first to last it would be too short whenever the first came late.
inline double period_us(std::span<const std::chrono::steady_clock::time_point> came, std::size_t under_way) {
    const std::size_t steps = came.size() / 2 / under_way * under_way;
    std::vector<double> spans;
    for (std::size_t i = 0; i + steps < came.size(); ++i)
        spans.push_back(std::chrono::duration<double, std::micro>(came[i + steps] - came[i]).count());
    return median(spans) / static_cast<double>(steps);
}

}  // namespace tidemill::testing
