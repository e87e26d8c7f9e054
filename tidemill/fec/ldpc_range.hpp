#pragma once

#include <span>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// LLRs of a carrier far over its code's threshold are halved this often: messages of 8 bits could not
/// overrule those of them that are wrong all the same, where the phase has slipped or a piece was hit. 0 near
/// the threshold, at most kMostLdpcHalvings.
int ldpc_halvings(const Dvbs2Code& code, std::span<const Llr> llrs);

inline constexpr int kMostLdpcHalvings = 5;

/// Mean of LLRs as they are; 0 of none.
double mean_magnitude(std::span<const Llr> llrs);

/// Each LLR halved so often, towards 0; `to` may be `llrs`.
void halve_llrs(std::span<const Llr> llrs, int times, std::span<Llr> to);

}  // namespace tidemill::fec
