#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tidemill::cli {

/// Reads "big=0.1,little=0.2": a number for each core kind. Throws WrongUsage naming `option` on anything
/// else and on a kind given twice.
std::vector<std::pair<std::string, double>> parse_per_kind(const std::string& text,
                                                           const std::string& option);

}  // namespace tidemill::cli
