#pragma once

#include <span>

#include "tidemill/dvbs2/sync/header_search.hpp"

namespace tidemill::dvbs2 {

/// The same as examine_header() for headers of DVB-S2X (EN 302 307-2, 5.5.2.4): `code` is 128 to 255.
/// HeaderSearch finds the places of both kinds.
HeaderHit examine_extension_header(std::span<const Iq, kHeaderSymbols> symbols);

}  // namespace tidemill::dvbs2
