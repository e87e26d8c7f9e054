#pragma once

#include <random>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// n LLRs of a random frame sent as QPSK over white noise at that Es/N0: what tests and benchmarks decode.
std::vector<Llr> noisy_llrs(const Dvbs2Code& code, double esn0_db, std::mt19937& random);

}  // namespace tidemill::fec
