#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidemill/dvbs2/send/multiplexer.hpp"

namespace tidemill::cli {

/// Reads a plan such as "QPSK 1/2 short pilots x4, 8PSK 3/4 isi 7, dummy": frame size and pilots are those of
/// `usual` unless said (normal, short, pilots, no-pilots), `isi` names one of the input streams by its
/// number, and x repeats. Throws WrongUsage saying what is not understood.
std::vector<dvbs2::PlannedFrame> parse_frame_plan(const std::string& text, const dvbs2::Pls& usual,
                                                  std::span<const dvbs2::InputStream> streams);

}  // namespace tidemill::cli
