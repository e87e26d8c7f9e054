#pragma once

#include <array>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::dvbs2::internal {

/// The log of a point's likelihood as a function of the received symbol: x re + y im + bias.
struct PointMetric {
    float x, y, bias;
};

/// The metrics of all points by label, of which the first 2^bits are used, how many steps there are to the
/// unit of the natural logarithm, and where the LLRs of each bit go, the label's most significant bit first.
struct PointMetrics {
    std::array<PointMetric, 32> points;
    int bits;
    float scale;
    std::array<fec::Llr*, 5> llrs;
};

/// One LLR per float: round(factor * value), saturated.
void demap_axes(std::span<const float> values, float factor, std::span<fec::Llr> llrs);

/// One LLR per symbol and bit, of 3, 4 or 5: the log of how likely the points are where the bit is 0, minus
/// that where it is 1.
void demap_points(std::span<const dsp::Iq> data, const PointMetrics& metrics);

}  // namespace tidemill::dvbs2::internal
