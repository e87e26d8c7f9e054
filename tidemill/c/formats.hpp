#pragma once

#include <cstddef>
#include <optional>

#include "tidemill/c/tidemill.h"
#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::c {

/// Nothing for a number that names none.
std::optional<dsp::SampleFormat> format_of(tidemill_format format);

}  // namespace tidemill::c
