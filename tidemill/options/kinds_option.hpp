#pragma once

#include <string>

#include "tidemill/machine/topology.hpp"
#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Adds --kinds, which says in place of the machine which cores are of which kind.
void add_kinds_option(Verb& verb, std::string& kinds);

/// This machine, by what --kinds said: a model file of calibrate --kinds, kinds by hand, or nothing. Throws
/// PlatformError where they do not fit the machine, ScheduleError where the file is none.
Topology topology_by(const std::string& kinds);

}  // namespace tidemill::cli
