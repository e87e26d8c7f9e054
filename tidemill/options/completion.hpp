#pragma once

#include <string>
#include <vector>

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Words that may stand where the last of `words` does, one a line, for the completion of shells: verbs,
/// options, and what an option takes of a known list. Empty where a file or any text may stand.
std::string completions(const Verb& program, const std::vector<std::string>& words);

}  // namespace tidemill::cli
