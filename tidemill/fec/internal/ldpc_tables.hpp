#pragma once

#include <cstdint>
#include <span>

namespace tidemill::fec {

/// One code of EN 302 307-1, annexes B and C: `heavy_rows` rows of `heavy_degree` addresses, then rows of
/// three.
struct LdpcTable {
    int heavy_rows;
    int heavy_degree;
    std::span<const std::uint16_t> addresses;
};

/// The tables of the 21 codes, normal frames first, by rising code rate.
std::span<const LdpcTable> ldpc_tables();

}  // namespace tidemill::fec
