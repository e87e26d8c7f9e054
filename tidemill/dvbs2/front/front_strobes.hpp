#pragma once

#include "tidemill/dsp/sampling_interpolator.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Reads the symbols of `block` at the sampling_instants of `plan` into `out`. Stateless.
void read_symbols(const dsp::SamplingInterpolator& interpolator, const FilteredBlock& block,
                  const StrobePlan& plan, SymbolBlock& out);

}  // namespace tidemill::dvbs2
