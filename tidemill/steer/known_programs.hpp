#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidemill/bridge/factor_file.hpp"
#include "tidemill/bridge/factor_matrix.hpp"

namespace tidemill::steer {

/// What is known beforehand of a program, "process.thread", on each kind of core.
using KnownFactors = std::function<std::vector<bridge::Factor>(const std::string& program)>;

/// How many times longer a program takes on a kind than on the first one, by a file that names it as
/// "process.thread", or as "process" for all its threads. Absent where it does not, or lacks one of the
/// times.
bridge::Factor known_factor(const bridge::FactorFile& file, const std::string& program,
                            const std::string& kind, const std::string& first_kind);

}  // namespace tidemill::steer
