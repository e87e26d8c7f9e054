#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::dvbs2 {

/// LLRs, exact within a tenth of a natural unit, of all bits of a frame's data symbols, in the order of the
/// FECFRAME: the interleaver of EN 302 307-1, 5.3.3, is undone by writing each bit of the labels to the
/// column it was read from.
///
/// A symbol that is exactly 0 is known to be lost, and all its LLRs are 0.
///
/// `scale` is the number of steps of an Llr per unit of natural log-likelihood ratio (fec::llr_scale);
/// results saturate at +-127. `llrs` has bits_per_symbol() values per symbol.
void demap(std::span<const dsp::Iq> data, const Modcod& modcod, const SignalQuality& quality, float scale,
           std::span<fec::Llr> llrs);

}  // namespace tidemill::dvbs2
