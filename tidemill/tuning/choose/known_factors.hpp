#pragma once

#include <optional>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"
#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill {

/// Known times of a graph's tasks before dynamic workers run it, and what is remembered after that.
class KnownFactors {
  public:
    /// Reads the file that is to remember, where there is one. Throws BridgeError for one that is damaged,
    /// and for factors that know nothing of a kind of these cores.
    KnownFactors(const RunConfig& how, Platform cores);

    void tell(DynamicOptions& workers) const;

    /// Writes the file that is to remember, if any. Throws BridgeError when it cannot.
    void remember(const RunReport& report) const;

  private:
    bridge::FactorFile learned(const RunReport& report) const;

    Platform cores_;
    std::string path_;
    bool given_;  // ahead of the run, for good
    std::optional<bridge::FactorFile> known_;
};

}  // namespace tidemill
