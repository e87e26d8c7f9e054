#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

using dsp::Iq;

inline constexpr std::uint32_t kSofBits = 0x18D2E82;  // 26 bits, first sent first (EN 302 307-1, 5.5.2.1)

/// The 64 bits of a 7-bit PLS code as sent, scrambled; the first sent is the most significant.
std::uint64_t encode_pls(int code);

/// The 90 symbols of a PLHEADER, unit energy, pi/2-BPSK (EN 302 307-1, 5.5.2).
std::span<const Iq, kHeaderSymbols> header_symbols(int code);

/// Their conjugates: what a received header is multiplied by to leave the carrier.
std::span<const Iq, kHeaderSymbols> header_references(int code);

/// The PLS code that fits 90 received symbols best, whatever their phase.
struct HeaderMatch {
    int code = 0;
    float quality = 0;  // share of the symbols' energy that the header explains, 0..1
    Iq sum{};           // symbols times the conjugate header, frequency removed, added up
};

/// Maximum-likelihood match over all 128 codes at one frequency (cycles per symbol).
///
/// Pure noise exceeds a quality q with probability at most 128 (1 - q)^89; a signal has about
/// Es / (Es + N0) on average. A conjugated header looks like one with half a cycle per symbol more.
HeaderMatch match_header(std::span<const Iq, kHeaderSymbols> symbols, float frequency);

}  // namespace tidemill::dvbs2
