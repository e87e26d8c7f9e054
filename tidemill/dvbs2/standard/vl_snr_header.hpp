#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Frames for very low signals have a header of their own behind the PLHEADER (EN 302 307-2, 5.5.2.5): 16
/// rows of 56 bits between two times two zeros, each row inverted where its sign says so. The signs of all
/// rows give the kind of frame.
inline constexpr std::size_t kVlSnrRows = 16, kVlSnrRowSymbols = 56;
inline constexpr std::size_t kVlSnrEdgeSymbols = 2;
inline constexpr std::size_t kVlSnrHeaderSymbols = kVlSnrRows * kVlSnrRowSymbols + 2 * kVlSnrEdgeSymbols;

/// The 56 bits of each row, the first sent on top.
extern const std::array<std::uint64_t, kVlSnrRows> kVlSnrRowBits;

/// A header that is in use.
struct VlSnrHeader {
    int index;
    std::uint16_t signs;  ///< of the rows, the first on top; 1: inverted
    int pls_code;         ///< of the PLHEADER before it: 129 with frames of 33282 symbols, 131 of 16686
};
extern const std::array<VlSnrHeader, 10> kVlSnrHeaders;

/// Its 900 symbols, unit energy, pi/2-BPSK.
std::vector<dsp::Iq> vl_snr_header_symbols(const VlSnrHeader& header);

}  // namespace tidemill::dvbs2
