#pragma once

#include <cstdint>
#include <span>

#include "tidemill/fec/internal/ldpc_kernel.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

/// Puts LLR i + q t of a FECFRAME's parity bits, its last ones, into lane t of column i of q.
void load_parity(std::span<const Llr> llrs, std::span<LdpcMemory::Column> columns);

/// Packs the signs of the columns' bits, 45 bytes of each; bit 0 of column i lies at its byte turns[i] back
/// from the end, or at the first when that is 0.
void pack_signs(std::span<const LdpcMemory::Column> columns, std::span<const std::uint32_t> turns,
                std::span<std::uint8_t> bytes);

}  // namespace tidemill::fec
