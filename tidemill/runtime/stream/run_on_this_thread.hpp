#pragma once

#include <stop_token>

namespace tidemill::internal {

/// Stop token of the run on this thread; for modules, when they begin.
std::stop_token stop_of_this_thread();

/// While it lives, that is `stop`.
class RunOnThisThread {
  public:
    [[nodiscard]] explicit RunOnThisThread(const std::stop_token& stop);
    ~RunOnThisThread();
    RunOnThisThread(const RunOnThisThread&) = delete;
    RunOnThisThread& operator=(const RunOnThisThread&) = delete;
};

}  // namespace tidemill::internal
