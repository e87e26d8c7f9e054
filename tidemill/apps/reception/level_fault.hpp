#pragma once

#include <string>

#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::cli {

/// Fault in the level of floating-point samples, and what to do: so loud or faint that single precision does
/// not hold their powers. Reads the beginning of the recording; empty where nothing is wrong, and for
/// integers. Throws IoError.
std::string level_fault(const io::Recording& recording);

}  // namespace tidemill::cli
