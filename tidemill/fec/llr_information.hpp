#pragma once

#include <cstddef>
#include <span>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// Mean information of LLRs on a code bit, in bits from 0 to 1, if they are true; by one in `stride` of them.
double llr_information(const Dvbs2Code& code, std::span<const Llr> llrs, std::size_t stride = 1);

/// Whether a frame's LLRs carry less than the code carries, so that there is nothing for a decoder to find:
/// noise, or a signal a good half of a decibel below what the best code would take. Looks at one LLR in 61
/// where they carry enough.
bool tell_too_little(const Dvbs2Code& code, std::span<const Llr> llrs);

}  // namespace tidemill::fec
