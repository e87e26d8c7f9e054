#pragma once

#include <vector>

#include "tidemill/options/option.hpp"

namespace tidemill::cli {

/// Throws WrongUsage where an output of a command line would go where another one goes, or where an input
/// comes from. Places are compared by what they are and not by name: links, files that are not there yet, and
/// standard output and error where they lead to a file. Devices may be shared.
void check_places(const std::vector<const Option*>& options);

}  // namespace tidemill::cli
