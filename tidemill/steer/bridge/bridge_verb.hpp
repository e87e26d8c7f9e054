#pragma once

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Declares the verb `bridge` with its options.
void add_bridge(Verb& program);

}  // namespace tidemill::cli
