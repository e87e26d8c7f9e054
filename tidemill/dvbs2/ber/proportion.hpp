#pragma once

#include <cstdint>

namespace tidemill::dvbs2 {

/// The range in which a probability lies.
struct Interval {
    double low;
    double high;
};

/// The 95 % interval of a probability of which `trials` independent tries saw `events` (Clopper and Pearson
/// 1934: never narrower than it says). Where none or all of the tries were events, one end is certain and
/// the other is the one-sided limit: 3.0 / trials when nothing happened. [0, 1] without a try.
Interval proportion_interval(std::uint64_t events, std::uint64_t trials);

}  // namespace tidemill::dvbs2
