#pragma once

#include <algorithm>
#include <cstdlib>

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

}  // namespace tidemill::testing
