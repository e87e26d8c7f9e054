#pragma once

#include <optional>
#include <string_view>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// What the name of a file tells about the samples in it.
struct RecordingName {
    std::optional<dsp::SampleFormat> format{};
    std::optional<double> sample_rate_hz{};
    std::optional<double> center_frequency_hz{};
};

/// Reads a file's name as programs for radios write it: the extension (.cf32 .fc32 .cfile .cf64 .ci16 .cs16
/// .sc16 .ci8 .cs8 .cu8), gqrx_DATE_TIME_HZ_RATE_fc.raw of gqrx, and where they stand between lines and
/// spaces, 2400000SPS and 741500000Hz (also kHz and MHz) as SatDump, SDR++, SDR# and HDSDR have them. Other
/// names tell nothing.
RecordingName read_recording_name(std::string_view name);

}  // namespace tidemill::io
