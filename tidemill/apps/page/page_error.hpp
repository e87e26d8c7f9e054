#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::page {

/// A page that cannot be shown: what, and what to do.
class PageError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::page
