#pragma once

#include "tidemill/schedule/detail_exact_chain.hpp"

namespace tidemill::detail {

/// A period that no schedule can beat: the heaviest task on its best kind, and all work spread without loss.
Ratio lower_bound(const ExactChain& chain);

}  // namespace tidemill::detail
