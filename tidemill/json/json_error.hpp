#pragma once

#include "tidemill/error.hpp"

namespace tidemill {

/// A text that is no JSON, or not what was expected there: the file, the place in it, what is wrong.
class JsonError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill
