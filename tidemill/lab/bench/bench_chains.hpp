#pragma once

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill::cli {

/// Ten tasks of 10 to 75 us, 330 together. Four of them have state; on two cores such a task is not in the
/// way.
Chain ten_tasks();

}  // namespace tidemill::cli
