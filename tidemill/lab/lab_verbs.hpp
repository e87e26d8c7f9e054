#pragma once

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

// Verbs of the laboratory; each function declares one with its options.
void add_rehearse(Verb& program);
void add_simulate(Verb& program);
void add_tasks(Verb& program);
void add_reproduce(Verb& program);
void add_bench(Verb& program);

}  // namespace tidemill::cli
