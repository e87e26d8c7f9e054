#pragma once

#include "tidemill/dsp/strobe_interpolator.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Reads the symbols of `block` at the strobes of `plan` into `out`. Stateless.
void read_symbols(const dsp::StrobeInterpolator& interpolator, const FilteredBlock& block,
                  const StrobePlan& plan, SymbolBlock& out);

}  // namespace tidemill::dvbs2
