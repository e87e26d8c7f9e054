#pragma once

#include <string>

#include "tidemill/cli/option.hpp"

namespace tidemill::cli {

/// Reads a gold code as --gold names it: its number, or root:N by the register that it begins with. Throws
/// WrongUsage.
int parse_gold(const std::string& text);

/// The same, or auto.
OrAuto<int> parse_gold_or_auto(const std::string& text);

}  // namespace tidemill::cli
