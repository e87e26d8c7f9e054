#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

namespace tidemill::dvbs2::internal {

/// A carrier's shape laid over all bins of a spectrum, one after the other: what CarrierShape::fit() says of
/// each, quicker. The spectrum's sums are made once for all places; of the shape only the edges are
/// multiplied.
class ShapeOverBins {
  public:
    /// The fit at each bin; gone with the next call.
    std::span<const ShapeFit> fit(const CarrierShape& shape, const ObservedSpectrum& spectrum);

  private:
    struct Edges;
    void sum(const Edges& edges, const ObservedSpectrum& spectrum);

    std::vector<double> power_{}, squares_{};                        // with silence before and behind
    std::vector<double> power_sums_{}, square_sums_{}, products_{};  // of each place
    std::vector<ShapeFit> fits_{};
};

/// The sum of each `width` values that follow one another. No value is ever taken out of a sum again, so that
/// a strong one leaves nothing in the sums of weak ones behind it (van Herk 1992 did so for maxima).
void sliding_sums(std::span<const double> values, std::size_t width, std::vector<double>& sums);

}  // namespace tidemill::dvbs2::internal
