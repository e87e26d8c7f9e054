#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Symbols of one look: eleven packets at the lowest code rate.
inline constexpr std::size_t kDvbsLookSymbols = 18'048;

/// Whether QPSK symbols are those of DVB-S (EN 300 421): decodes its inner code at every rate, and looks for
/// the sync bytes of its packets. Finds the code rate, such as "3/4"; empty where it is something else:
/// chance alone makes one of 10^12 look so. One sample a symbol, with a carrier left on it of less than an
/// eighth of the symbol rate, either spectrum; looks at as many times kDvbsLookSymbols as there are.
std::optional<std::string_view> look_for_dvbs(std::span<const dsp::Iq> symbols);

}  // namespace tidemill::dvbs2
