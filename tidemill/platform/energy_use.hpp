#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tidemill {

/// Energy of one part of the machine, since the meter was started.
struct EnergyDomain {
    std::string name;  ///< as the meter calls it: "package-0", "package-0/dram", "BAT0"
    double joules = 0;
    bool in_total = true;  ///< false: inside another domain, or around the others
};

/// The energy that went by during a run: a number of a named meter, or why there is none.
struct EnergyUse {
    std::optional<double> joules = {};  ///< of the domains that make the total
    double seconds = 0;                 ///< between the first reading and the last
    std::string meter = {};
    std::vector<EnergyDomain> domains = {};
    std::string not_measured = "no meter was given";  ///< the reason, while `joules` is empty

    /// Mean power, where energy was measured.
    std::optional<double> watts() const;

    /// Energy per frame (or anything else that was counted), where it was measured and there were any.
    std::optional<double> joules_per(double count) const;
};

}  // namespace tidemill
