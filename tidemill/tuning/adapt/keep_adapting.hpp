#pragma once

#include <functional>
#include <string>

#include "tidemill/machine/repeated.hpp"

namespace tidemill {

/// Looks again and again whether a stream would run better otherwise, on a thread of its own, while it runs.
class KeepAdapting {
  public:
    KeepAdapting(std::function<void()> look, double every_s);

    /// Ends the looking. Returns why it ended before, or nothing.
    std::string finish();

  private:
    Repeated looks_;
};

}  // namespace tidemill
