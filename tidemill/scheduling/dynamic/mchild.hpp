#pragma once

#include "tidemill/scheduling/dynamic/most_after.hpp"

namespace tidemill::policy {

/// Most children first.
class Mchild : public MostAfter<&TasksInFlight::count_parents> {};

}  // namespace tidemill::policy
