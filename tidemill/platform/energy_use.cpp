#include "tidemill/platform/energy_use.hpp"

namespace tidemill {

std::optional<double> EnergyUse::watts() const {
    return joules_per(seconds);
}

std::optional<double> EnergyUse::joules_per(double count) const {
    if (!joules || !(count > 0)) return std::nullopt;
    return *joules / count;
}

}  // namespace tidemill
