#pragma once

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// How long the LDPC decoder tries.
struct LdpcSettings {
    int max_iterations = 150;
    bool stop_early = true;  ///< false: always all iterations, for measuring
    /// Iterations by min-sum, the first ones, which frames well above the threshold do not outlast; the
    /// others are by sum-product. 0: as many as serve the code best. 0: as many as serve the code best.
    int fast_iterations = 0;
};

/// How many iterations are by min-sum: at most all. Throws FecError when a setting is out of its range.
int ldpc_fast_share(const LdpcSettings& settings, const Dvbs2Code& code);

/// Scale by which a demapper multiplies its true log-likelihood ratios (natural log of P(0)/P(1)), before it
/// rounds them to the nearest integer and saturates to +-127: for QPSK with points at +-A on each axis and
/// noise of variance v per axis, llr = round(llr_scale(code) 2 A y / v). The decoder's corrections assume
/// this scale.
double llr_scale(const Dvbs2Code& code);

}  // namespace tidemill::fec
