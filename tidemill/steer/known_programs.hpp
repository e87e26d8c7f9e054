#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/scheduling/unequal/emulation.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"
#include "tidemill/scheduling/unequal/factor_matrix.hpp"

namespace tidemill::steer {

/// Knowledge of a program beforehand, "process.thread", on each kind of core.
using KnownFactors = std::function<std::vector<bridge::Factor>(const std::string& program)>;

/// How many times longer a program takes on a kind than on the first one, by a file that names it as
/// "process.thread", or as "process" for all its threads. Absent where it does not, or lacks one of the
/// times.
bridge::Factor known_factor(const bridge::FactorFile& file, const std::string& program,
                            const std::string& kind, const std::string& first_kind);

/// The user's knowledge of programs on kinds of cores: times from runs before, and ratios by hand for what
/// these leave out.
class KnownPrograms {
  public:
    /// The first of the kinds is the one that factors refer to. Throws SteerError for ratios of a kind that
    /// there is not, and of the first one.
    KnownPrograms(std::vector<std::string> kinds, bridge::Emulation slower,
                  std::optional<bridge::FactorFile> file);

    bool is_nothing() const { return slower_.kinds.empty() && !file_; }

    /// By kind, of "process.thread": as it is there, else by its process; absent where nothing is known.
    std::vector<bridge::Factor> factors_of(const std::string& program) const;

  private:
    bridge::Factor factor(const std::string& program, const std::string& kind) const;

    std::vector<std::string> kinds_;
    bridge::Emulation slower_;
    std::optional<bridge::FactorFile> file_;
};

}  // namespace tidemill::steer
