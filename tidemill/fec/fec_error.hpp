#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::fec {

/// A code or a setting that does not exist.
class FecError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::fec
