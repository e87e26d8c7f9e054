#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

/// Where the samples of a WAV recording with I and Q on its two channels lie, and what they are.
struct WavHeader {
    dsp::SampleFormat format = dsp::SampleFormat::ci16;
    StoredIntegers integers{};                    ///< where the numbers are of 24 or 32 bits
    std::optional<double> sample_rate_hz{};       ///< none: the header says 0
    std::optional<double> center_frequency_hz{};  ///< of an auxi chunk
    std::uint64_t data_offset = 0;                ///< bytes
    std::uint64_t data_bytes = 0;                 ///< as far as the file reaches
    std::vector<std::string> warnings{};          ///< where header and file, or parts of the header, disagree
};

/// Reads the header of a WAV, RF64, BW64 or Wave64 file: integers of 8 (unsigned), 16, 24 and 32 bits, and
/// floating-point numbers of 32 and 64. What the header says of the length of the data counts only where
/// other chunks or the end of the file are behind them: it is modulo 2^32 in larger files, and that of the
/// beginning where a writer was killed. Throws IoError when it is none, or has other samples, or not two
/// channels.
WavHeader read_wav_header(const std::filesystem::path& path);

}  // namespace tidemill::io
