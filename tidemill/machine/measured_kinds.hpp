#pragma once

#include <span>
#include <string>
#include <vector>

#include "tidemill/machine/core_speeds.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// Kinds of cores by what was measured, and what that says about the declared kinds.
struct MeasuredKinds {
    std::string kinds;       ///< as Topology::here() takes them, fastest first: "big=0-3,little=4-7"
    bool overrules = false;  ///< the machine declared others
    std::vector<std::string> because;  ///< a sentence each
};

/// Groups the cores of a topology by their speeds, given in its order. Cores are parted where both sides are
/// apart by a tenth, and by three times what the measurements repeat to; where these repeat too badly to
/// decide, the kinds stay as they are.
MeasuredKinds kinds_by_speed(const Topology& told, std::span<const MeasuredCore> measured);

}  // namespace tidemill
