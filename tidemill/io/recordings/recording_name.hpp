#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

/// Facts in the name of a file about the samples in it.
struct RecordingName {
    std::optional<dsp::SampleFormat> format{};
    StoredIntegers integers{};  ///< of which `format` is what they are read as
    std::optional<double> sample_rate_hz{};
    std::optional<double> center_frequency_hz{};
    std::vector<std::string> warnings{};  ///< which of several statements counts
};

/// Reads a file's name as programs for radios write it: the extension, in letters of either size (.cf32,
/// .ci16, ...; kRawExtensions lists them); gqrx_DATE_TIME_HZ_RATE_fc.raw of gqrx; where they stand between
/// lines and spaces, 2400000SPS and 741500000Hz (also kHz and MHz) as SatDump, SDR++, SDR# and HDSDR have
/// them; 433.92M_250k of rtl_433; 433_92MHz-2MSps of the Universal Radio Hacker. Of several rates the highest
/// is that of the samples, for symbols are fewer; of several frequencies the first counts. Other names mean
/// nothing.
RecordingName read_recording_name(std::string_view name);

/// The extensions of raw samples, each behind a dot, for an error.
std::string raw_extensions();

}  // namespace tidemill::io
