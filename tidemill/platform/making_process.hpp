#pragma once

#include <unistd.h>

namespace tidemill {

/// The process that made this. One that was forked off has the memory of what was made, but not its threads.
class MakingProcess {
  public:
    bool is_here() const { return id_ == getpid(); }

  private:
    pid_t id_ = getpid();
};

}  // namespace tidemill
