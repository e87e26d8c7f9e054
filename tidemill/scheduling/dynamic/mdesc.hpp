#pragma once

#include "tidemill/scheduling/dynamic/most_after.hpp"

namespace tidemill::policy {

/// Most descendants first.
class Mdesc : public MostAfter<&TasksInFlight::count_ancestors> {};

}  // namespace tidemill::policy
