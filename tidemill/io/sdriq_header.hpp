#pragma once

#include <cstdint>
#include <filesystem>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// What stands before the samples of an .sdriq file of SDRangel.
struct SdriqHeader {
    static constexpr std::uint64_t kBytes = 32;

    dsp::SampleFormat format = dsp::SampleFormat::ci16;
    double sample_rate_hz = 0;
    double center_frequency_hz = 0;
};

/// Reads the header, whose CRC must be right. Throws IoError when it is none, or has samples of more than 16
/// bits.
SdriqHeader read_sdriq_header(const std::filesystem::path& path);

}  // namespace tidemill::io
