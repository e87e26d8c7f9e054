#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

/// A part of a recording, and what there is to say about it.
struct SigmfAnnotation {
    std::uint64_t start = 0;  ///< sample
    std::uint64_t count = 0;  ///< 0: a moment
    std::string label{};
    std::string comment{};
};

/// Bytes of a data file that are no samples.
struct SigmfHeader {
    std::uint64_t at_sample = 0;  ///< before which they lie
    std::uint64_t bytes = 0;
};

/// The part of SigMF metadata that a receiver needs (SigMF specification 1.2, core namespace).
struct SigmfMetadata {
    dsp::SampleFormat format = dsp::SampleFormat::cf32;
    std::optional<double> sample_rate_hz;
    StoredIntegers integers{};                  // of which `format` is what they are read as; only read
    std::optional<double> center_frequency_hz;  // of the captures
    std::optional<double> symbol_rate_hz;       // of the carrier in it, as our transmitter writes it
    std::uint64_t last_capture_start = 0;       // sample at which the last capture begins
    std::uint64_t trailing_bytes = 0;           // of the data file, behind its samples; only read
    std::vector<SigmfHeader> headers{};         // in the data file, by their places; only read
    std::string sha512;
    std::string description;
    std::string datetime{};                      // of the first sample; only written
    std::vector<SigmfAnnotation> annotations{};  // by their start; only written
    std::string dataset;                // name of the data file beside the metadata; empty: the usual one
    std::vector<std::string> warnings;  // what is odd but harmless
};

/// The two files of a SigMF recording.
struct SigmfPaths {
    std::filesystem::path meta;
    std::filesystem::path data;
};

/// The paths of a recording named by either of its files, or by both without extension.
SigmfPaths sigmf_paths(const std::filesystem::path& path);

/// SigMF's name of a format: cf32_le, ci16_be, ci8, ...
std::string_view sigmf_datatype(dsp::SampleFormat format);

/// Parses metadata; throws IoError, which names `origin`, when they are malformed or ask for what is not
/// supported.
SigmfMetadata parse_sigmf(std::string_view json, const std::filesystem::path& origin);

/// The names of the recordings in a collection; throws IoError, which names `origin`.
std::vector<std::string> parse_sigmf_collection(std::string_view json, const std::filesystem::path& origin);

/// Metadata as JSON with one capture that begins at sample 0.
std::string format_sigmf(const SigmfMetadata& metadata);

}  // namespace tidemill::io
