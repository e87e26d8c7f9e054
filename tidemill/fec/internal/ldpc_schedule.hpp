#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_range.hpp"

namespace tidemill::fec {

/// Bytes from one block column to the next: 360 values, and again the first 64 for vectors that run over the
/// end.
inline constexpr std::size_t kColumnStride = 448;

/// Bytes that all lanes of one edge take in whole vectors, and how far apart those lie whose places are
/// known.
inline constexpr std::size_t kPaddedLanes = 384;
inline constexpr std::size_t kPlacedLanes = 16;

/// Steps of an LLR up to which sum-product corrects a magnitude.
inline constexpr std::size_t kLdpcCorrections = 16;

/// By x: log(1 + exp(-x)) in steps of which there are `scale` to the unit of the natural logarithm.
struct alignas(16) LdpcCorrections {
    explicit LdpcCorrections(double scale = 1);

    std::array<std::uint8_t, kLdpcCorrections> by_x{};
};

/// One circulant in the order of decoding. A column lies turned in memory: as the lanes of the layer that
/// wrote it last.
struct LdpcEdge {
    std::uint32_t column;      ///< byte offset of the block column
    std::uint32_t start;       ///< where in the column, as a sweep finds it, lies the bit that lane 0 checks
    std::uint32_t rest_start;  ///< the same between two sweeps
    /// Where in the column lie the bits that lanes 0, 16, 32 and so on check.
    using Places = std::array<std::uint16_t, kPaddedLanes / kPlacedLanes>;
    Places places{};       ///< as a sweep finds them
    Places rest_places{};  ///< between two sweeps
};

/// One layer: 360 checks. Its edges are numbered on from the layer before, those of shared columns last.
struct LdpcLayer {
    std::uint32_t first_edge;
    std::uint32_t own_edges;     ///< whose column belongs to no other edge of the layer
    std::uint32_t shared_edges;  ///< whose column has several: all see its old value and add their changes
};

/// Everything about a code that the decoder's inner loops need, worked out once.
struct LdpcSchedule {
    explicit LdpcSchedule(const Dvbs2Code& code);

    std::vector<LdpcLayer> layers;
    std::vector<LdpcEdge> edges;
    std::vector<std::uint32_t> turns;     ///< per column: its bit that lies first between two sweeps
    std::uint32_t most_shared_edges = 0;  ///< of one layer
    /// Layer 0's edge to the last parity column, whose lane 0 stands for a bit that does not exist.
    std::uint32_t open_edge = 0;
    /// By how often LLRs have been halved from the code's scale.
    std::array<LdpcCorrections, kMostLdpcHalvings + 1> corrections;

  private:
    void follow_turns();
};

}  // namespace tidemill::fec
