#pragma once

#include <string>

namespace tidemill::cli {

/// Reads a gold code as --gold names it: its number, or root:N by the register that it begins with. Throws
/// WrongUsage.
int parse_gold(const std::string& text);

}  // namespace tidemill::cli
