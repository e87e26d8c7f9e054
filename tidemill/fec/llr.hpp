#pragma once

#include <cstdint>

namespace tidemill::fec {

/// Log-likelihood ratio of one code bit, log P(0)/P(1) times `llr_scale(code)`: positive means 0.
using Llr = std::int8_t;

}  // namespace tidemill::fec
