#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Symbols in which two headers of VL-SNR frames begin, wherever one starts, and end.
inline constexpr std::size_t kVlSnrLookSymbols = 120'000;

/// Looks for frames of DVB-S2X that are made for very low signals (EN 302 307-2, 5.5.2.5), down to -10 dB
/// Es/N0, by their headers of 900 symbols; needs no lock of any kind. Finds the index of the header that is
/// there most often, 0 to 12; empty where not at least two are seen: chance alone makes one of 10^20 look so.
/// Two samples a symbol, as they came, with a carrier left on them of at most 0.007 cycles per symbol; either
/// spectrum.
std::optional<int> look_for_vl_snr(std::span<const dsp::Iq> samples, double rolloff);

}  // namespace tidemill::dvbs2
