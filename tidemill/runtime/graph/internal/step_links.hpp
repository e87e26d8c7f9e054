#pragma once

#include "tidemill/runtime/graph/plan.hpp"

namespace tidemill::internal {

/// Says which step follows which in each part of the plan: within a switch or loop, as its control value
/// says.
void link_steps(const Structure& structure, Plan& plan);

}  // namespace tidemill::internal
