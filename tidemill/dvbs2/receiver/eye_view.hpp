#pragma once

#include <cstddef>
#include <vector>

#include "tidemill/dsp/sampling_interpolator.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// Lines of an eye diagram: the in-phase part over two symbols each, kPointsPerSymbol points a symbol.
struct Eye {
    static constexpr std::size_t kPointsPerSymbol = 8;
    static constexpr std::size_t kPointsPerLine = 2 * kPointsPerSymbol + 1;

    std::vector<float> points;  ///< kPointsPerLine of each line, one line behind the other
};

/// Draws eyes of a receiver's matched-filtered blocks. Where the symbols stand, the block knows; by which
/// angle they are turned, and how fast, is found in their own powers, in which the modulation is gone.
class EyeView {
  public:
    explicit EyeView(double rolloff) : interpolator_(rolloff) {}

    /// Eye of the block's first symbols, in the mean of amplitude 1; empty for a block without any.
    Eye draw(const FilteredBlock& block, Modulation modulation, std::size_t lines) const;

  private:
    dsp::SamplingInterpolator interpolator_;
};

}  // namespace tidemill::dvbs2
