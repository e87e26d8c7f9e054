#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// Bytes of one circulant's 360 lanes, padded to whole vectors; lanes 360 to 383 repeat lanes 0 to 23.
inline constexpr std::size_t kPaddedLanes = 384;

/// Bytes of one block column: 360 values and, behind them, the same again, so that a rotation is one piece.
inline constexpr std::size_t kColumnStride = 768;

/// One circulant in the order of decoding. A column is kept as the circulant that last wrote it saw it.
struct LdpcEdge {
    std::uint32_t column;  ///< byte offset of the block column, where lane 0 will be written
    std::uint32_t read;    ///< byte offset of lane 0's value as the column is now
};

/// A block column that several circulants of one layer share: they see its old value and add their changes.
struct LdpcSharedColumn {
    std::uint32_t column;  ///< byte offset
    std::uint32_t first;   ///< of its edges, counted from the layer's first shared edge
    std::uint32_t count;
};

/// One layer: 360 checks. Its edges are numbered on from the layer before, those of shared columns last.
struct LdpcLayer {
    std::uint32_t first_edge;
    std::uint32_t own_edges;  ///< whose column belongs to no other edge of the layer
    std::uint32_t shared_edges;
    std::uint32_t first_shared_column;
    std::uint32_t shared_columns;
};

/// Everything about a code that the decoder's inner loops need, worked out once.
struct LdpcSchedule {
    explicit LdpcSchedule(const Dvbs2Code& code);

    std::vector<LdpcLayer> layers;
    std::vector<LdpcEdge> edges;
    std::vector<LdpcSharedColumn> shared_columns;
    std::uint32_t most_edges = 0;         ///< of one layer
    std::uint32_t most_shared_edges = 0;  ///< of one layer
    std::uint32_t columns = 0;
    /// Layer 0's edge to the last parity column, whose lane 0 stands for a bit that does not exist.
    std::uint32_t open_edge = 0;

    /// Where bit 0 of each block column lies once a layer is done; entry q - 1 is also the state before layer
    /// 0.
    std::vector<std::vector<std::uint16_t>> bit0_after;
};

}  // namespace tidemill::fec
