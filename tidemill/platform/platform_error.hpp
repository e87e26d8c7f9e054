#pragma once

#include <stdexcept>

namespace tidemill {

/// A wrong wish about the machine (node list, kinds, placement): says what, where and what to do.
class PlatformError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tidemill
