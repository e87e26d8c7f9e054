#pragma once

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Throws WrongUsage where what was given of a verb's options does not go together: one that is required is
/// missing, one is given twice, a flag has a value, or one excludes or needs another.
void check_rules(const Verb& verb);

}  // namespace tidemill::cli
