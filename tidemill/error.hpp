#pragma once

#include <stdexcept>

namespace tidemill {

/// What Tidemill throws: each room has one type of its own below this one. What happened, where, and what to
/// do.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tidemill
