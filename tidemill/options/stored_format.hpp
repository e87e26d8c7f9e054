#pragma once

#include <optional>
#include <string>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// The format in which samples are written to a place: as `wanted`, or as its name says. Throws WrongUsage.
dsp::SampleFormat stored_format(const std::string& output, std::optional<dsp::SampleFormat> wanted);

/// Warns where the rounding of samples of this level adds more than a hundredth of their power.
void warn_of_rounding(double level_dbfs, dsp::SampleFormat format);

/// Adds the option --format of samples that are written.
void add_stored_format(Verb& verb, std::optional<dsp::SampleFormat>& format);

}  // namespace tidemill::cli
