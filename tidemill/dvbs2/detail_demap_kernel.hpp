#pragma once

#include <array>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::dvbs2::detail {

/// A point's likelihood as a function of the received symbol: x re + y im + bias.
struct PointMetric {
    float x, y, bias;
};

/// The metrics of all points for one bit of the label: first those where it is 0, then as many where it is 1.
struct BitMetrics {
    std::array<PointMetric, 32> points;
    int points_per_value;
};

/// One LLR per float: round(factor * value), saturated.
void demap_axes(std::span<const float> values, float factor, std::span<fec::Llr> llrs);

/// One LLR per symbol: the best metric where the bit is 0 minus the best where it is 1.
void demap_bit(std::span<const dsp::Iq> data, const BitMetrics& metrics, std::span<fec::Llr> llrs);

}  // namespace tidemill::dvbs2::detail
