#pragma once

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// How long the LDPC decoder tries.
struct LdpcSettings {
    int max_iterations = 50;
    bool stop_early = true;  ///< false: always all iterations, for measuring
};

/// What a demapper multiplies its true log-likelihood ratios (natural log of P(0)/P(1)) by, before it rounds
/// them to the nearest integer and saturates to +-127: for QPSK with points at +-A on each axis and noise of
/// variance v per axis, llr = round(llr_scale(code) 2 A y / v). The decoder's correction assumes this scale.
double llr_scale(const Dvbs2Code& code);

}  // namespace tidemill::fec
