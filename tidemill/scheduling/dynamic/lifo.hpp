#pragma once

#include "tidemill/scheduling/dynamic/fifo.hpp"

namespace tidemill::policy {

/// Ready last, issued first. Tasks made ready by the same completion are tied.
class Lifo : public Fifo {
  public:
    Rank rank(TaskSlot task) const { return -Fifo::rank(task); }
};

}  // namespace tidemill::policy
