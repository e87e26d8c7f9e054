#pragma once

#include <cstdint>
#include <stop_token>

#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

/// How often a task that ends a segment has said again since its run was asked to stop: one that says so for
/// ever would keep its frame in flight for ever.
class AgainAfterStop {
  public:
    static constexpr std::uint32_t kMost = 1000;

    /// The task's flow, or ok where it has said again too often after a stop.
    Flow heed(Flow flow, const std::stop_token& stop) {
        if (flow != Flow::again || !stop.stop_requested()) {
            times_ = 0;
            return flow;
        }
        return ++times_ > kMost ? Flow::ok : flow;
    }

  private:
    std::uint32_t times_ = 0;
};

}  // namespace tidemill
