#pragma once

#include <string>

#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

/// Compares the data of a recording with the SHA-512 that its metadata claim, which reads all of it. Returns
/// the disagreement as a sentence, or why it cannot be known; empty where there is none or no digest is
/// claimed. Throws IoError where
/// the data cannot be read.
std::string check_digest(const Recording& recording);

}  // namespace tidemill::io
