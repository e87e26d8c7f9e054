#pragma once

#include <cstdint>

namespace tidemill::dvbs2 {

/// Where symbols were read, from one of a block on: in symbols of the nominal rate since the first sample.
struct StrobeMark {
    std::uint32_t symbol = 0;
    bool leaps = false;  // the clock does not go on from the symbol before
    double place = 0.0;
    double step = 1.0;
};

}  // namespace tidemill::dvbs2
