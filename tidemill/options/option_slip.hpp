#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemill::cli {

/// "; did you mean --symbol-rate?" for a word that begins only this one of the names, or is nearly one; else
/// empty.
std::string meant_instead(std::string_view word, const std::vector<std::string>& names);

}  // namespace tidemill::cli
