#pragma once

#include <string>

#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::cli {

/// "QPSK 3/4".
std::string modcod_name(const dvbs2::Modcod& modcod);

/// The MODCOD that `--modcod` names: "QPSK 8/9", "qpsk8/9", "QPSK-8/9" or its number, "10". Throws
/// WrongUsage, naming all there are, for anything else.
const dvbs2::Modcod& modcod_of(const std::string& text);

/// The frame size that `--frame` names, normal or short.
dvbs2::FrameSize frame_size_of(const std::string& text);

}  // namespace tidemill::cli
