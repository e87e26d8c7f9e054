#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tidemill::cli {

/// Reads "big=4/0.3,little=1/0.1": numbers for core kinds, separated by slashes. Throws WrongUsage naming
/// `option` on anything else and on a kind given twice.
std::vector<std::pair<std::string, std::vector<double>>> parse_per_kind(const std::string& text,
                                                                        const std::string& option);

}  // namespace tidemill::cli
