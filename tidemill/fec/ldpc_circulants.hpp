#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// One shifted identity of 360 x 360: lane t of its layer checks bit (t - shift) mod 360 of its block column.
/// Columns hold 360 bits each: the information bits in order, then in column i of q the parity bits i + q t.
struct Circulant {
    std::uint16_t column;
    std::uint16_t shift;
};

/// The 360 checks i + q t of one layer i of q, as edges in the order of decoding.
struct LdpcCheckLayer {
    std::vector<Circulant> own;     ///< whose column belongs to no other edge of the layer
    std::vector<Circulant> shared;  ///< whose column has several
};

/// All layers of a code. The last own edge of layer 0 is the open one: its lane 0 stands for a bit that does
/// not exist.
std::vector<LdpcCheckLayer> ldpc_check_layers(const Dvbs2Code& code);

}  // namespace tidemill::fec
