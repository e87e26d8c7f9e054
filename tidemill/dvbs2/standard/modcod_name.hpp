#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::cli {

/// "QPSK 3/4".
std::string modcod_name(const dvbs2::Modcod& modcod);

/// The MODCOD that `--modcod` names: "QPSK 8/9", "qpsk8/9", "QPSK-8/9" or its number, "10". Throws
/// WrongUsage, naming all there are, for anything else.
const dvbs2::Modcod& modcod_of(const std::string& text);

/// Its number.
int modcod_number_of(const std::string& text);

/// The frame sizes by the words that name them.
std::vector<std::pair<std::string, dvbs2::FrameSize>> frame_size_words();

}  // namespace tidemill::cli
