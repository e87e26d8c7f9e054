#pragma once

#include <span>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// A try at a frame from its beginning, with all LLRs times a factor.
struct LdpcAttempt {
    int iterations;
    double llr_factor;
};

/// How long the LDPC decoder tries.
struct LdpcSettings {
    int max_iterations = 50;                     ///< of all attempts together
    bool stop_early = true;                      ///< false: always all iterations, for measuring
    std::span<const LdpcAttempt> attempts = {};  ///< none: those of ldpc_attempts()
};

/// The attempts that serve a code best. Of the short codes of rates 3/5 and 5/6 a few frames in 1000 lead the
/// decoder astray far above their threshold; it does better to begin anew with other LLRs than to go on.
std::span<const LdpcAttempt> ldpc_attempts(const Dvbs2Code& code);

/// The LLR of an attempt with that factor: rounded, and saturated to +-127.
Llr scaled(Llr llr, double factor);

/// What a demapper multiplies its true log-likelihood ratios (natural log of P(0)/P(1)) by, before it rounds
/// them to the nearest integer and saturates to +-127: for QPSK with points at +-A on each axis and noise of
/// variance v per axis, llr = round(llr_scale(code) 2 A y / v). The decoder's correction assumes this scale.
double llr_scale(const Dvbs2Code& code);

}  // namespace tidemill::fec
