#pragma once

#include <stdexcept>
#include <string>

namespace tidemill::io {

/// A file that cannot be used: what happened, to which path, why, and what to do about it.
class IoError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tidemill::io
