#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// Where the samples of a WAV recording with I and Q on its two channels lie, and what they are.
struct WavHeader {
    dsp::SampleFormat format = dsp::SampleFormat::ci16;
    bool is_24_bit = false;  ///< integers in three bytes each, whatever the format says
    double sample_rate_hz = 0;
    std::optional<double> center_frequency_hz{};  ///< of an auxi chunk
    std::uint64_t data_offset = 0;                ///< bytes
    std::uint64_t data_bytes = 0;                 ///< as far as the file reaches
    bool is_cut_off = false;                      ///< the header promises more than there is
};

/// Reads the header of a WAV or RF64 file: 8-bit unsigned, 16- and 24-bit and 32- or 64-bit floating-point
/// samples. Throws IoError when it is none, or has other samples, or not two channels.
WavHeader read_wav_header(const std::filesystem::path& path);

}  // namespace tidemill::io
