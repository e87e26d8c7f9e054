#pragma once

#include <string>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::cli {

/// The format that `--format` names: cf32, cf64, ci16, ci8, cu8 or with _be for big endian; throws WrongUsage
/// for anything else.
dsp::SampleFormat sample_format_of(const std::string& name);

/// Name of a format for `--format`.
std::string name_of(dsp::SampleFormat format);

}  // namespace tidemill::cli
