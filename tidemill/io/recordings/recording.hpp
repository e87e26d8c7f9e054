#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// How whole numbers lie in a file that are read as cf32, which holds 24 bits of them.
struct StoredIntegers {
    unsigned bytes = 0;  ///< of each number; 0: numbers lie there as the sample format says
    unsigned bits = 0;   ///< of these, the low ones
    bool is_unsigned = false;
    bool is_big_endian = false;

    bool operator==(const StoredIntegers&) const = default;
};

/// Place at which samples go on in a file, after other bytes.
struct DataPiece {
    std::uint64_t first_sample = 0;
    std::uint64_t offset = 0;  // of this sample, in bytes
};

/// Facts of a recording before its samples are read.
struct Recording {
    std::filesystem::path data_path;
    std::uint64_t data_offset = 0;                       // of the first sample in that file, in bytes
    dsp::SampleFormat format = dsp::SampleFormat::cf32;  // as they are read
    StoredIntegers integers{};
    std::uint64_t samples = 0;                  // whole ones
    std::uint64_t trailing_bytes = 0;           // after the last whole sample, never read
    std::optional<double> sample_rate_hz;       // unknown for raw files unless the user gave it
    std::optional<double> center_frequency_hz;  // of the first capture
    std::optional<double> symbol_rate_hz{};     // of the carrier in it, where its transmitter was ours
    std::vector<DataPiece> more_pieces{};       // behind the first, by their places
    std::uint64_t dataset_offset = 0;           // of all that belongs to the recording in that file, in bytes
    std::uint64_t dataset_bytes = 0;
    std::string sha512;                 // of that, as the metadata claims; may be empty
    std::vector<std::string> warnings;  // what is odd but does not prevent reading
};

/// Bytes of one complex sample in the file.
std::size_t stored_bytes_per_sample(const Recording& recording);

/// Place of a sample, after which those up to `until` follow.
struct SamplePlace {
    std::uint64_t offset = 0;  // in bytes
    std::uint64_t until = 0;   // sample
};
SamplePlace place_of_sample(const Recording& recording, std::uint64_t sample);

/// Leaves out bytes before the first sample, fewer than there are.
void skip_bytes(Recording& recording, std::uint64_t bytes);

/// Leaves `count` samples from `first` on, which must be there.
void keep_part(Recording& recording, std::uint64_t first, std::uint64_t count);

/// Sample rates beyond which nobody records: others are refused.
inline constexpr double kLeastSampleRateHz = 1, kMostSampleRateHz = 1e11;

/// The user's description of a recording; it outweighs the metadata.
struct RecordingHints {
    std::optional<dsp::SampleFormat> format;
    std::optional<double> sample_rate_hz;
};

/// The format of raw samples by the name of their file; empty where that does not show it.
std::optional<dsp::SampleFormat> raw_format(const std::filesystem::path& path);

/// Examines a recording: SigMF by the name of either file or of both without extension, or in an archive
/// (.sigmf, or .sigmf.zst as zstd compresses it), as ARCHIVE/NAME where there are several; WAV with I and Q
/// on its two channels (.wav); SDRangel's .sdriq; or raw samples whose format follows from the name, as
/// RecordingName reads it, or from the hints. Throws IoError when nothing useful can be read from it: missing
/// or empty data, malformed metadata, unsupported datatype.
Recording open_recording(const std::filesystem::path& path, const RecordingHints& hints = {});

}  // namespace tidemill::io
