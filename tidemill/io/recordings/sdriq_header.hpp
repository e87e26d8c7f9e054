#pragma once

#include <cstdint>
#include <filesystem>

namespace tidemill::io {

/// Header before the samples of an .sdriq file of SDRangel.
struct SdriqHeader {
    static constexpr std::uint64_t kBytes = 32;

    bool is_24_bit = false;  ///< each number in 32 bits, little endian; else 16
    double sample_rate_hz = 0;
    double center_frequency_hz = 0;
};

/// Reads the header, whose CRC must be right. Throws IoError when it is none, or has samples of other than
/// 16 or 24 bits.
SdriqHeader read_sdriq_header(const std::filesystem::path& path);

}  // namespace tidemill::io
