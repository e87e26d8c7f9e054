#pragma once

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

// Verbs that every App has, too; each function declares one with its options.
void add_topo(Verb& program);
void add_schedule(Verb& program);

}  // namespace tidemill::cli
