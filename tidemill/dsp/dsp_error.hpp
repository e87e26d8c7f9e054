#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::dsp {

/// A size or a setting with which a kernel cannot work.
class DspError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::dsp
