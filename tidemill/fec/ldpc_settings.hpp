#pragma once

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// How the min-sum decoder of one code runs.
struct LdpcSettings {
    int max_iterations = 50;
    bool stop_early = true;  ///< false: always all iterations, for measuring
    double llr_scale = 3.0;  ///< steps of an `Llr` per unit of natural log P(0)/P(1)
    double factor = 0.8;     ///< what the smallest magnitude is multiplied by, 0 < factor < 1
    int magnitude_cap = 63;  ///< magnitudes above it count as this much, 1 to 127
};

/// The settings found best for a code: no wrong frame in a few hundred at EN 302 307-1 table 13 plus 0.2 dB.
LdpcSettings recommended_ldpc_settings(const Dvbs2Code& code);

/// What a demapper multiplies its true log-likelihood ratios by, before it rounds and saturates to +-127.
double llr_scale(const Dvbs2Code& code);

}  // namespace tidemill::fec
