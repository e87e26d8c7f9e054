#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

/// File of GNU Radio's file meta sink with inline headers: segments of samples, a header before each.
struct GnuRadioMeta {
    /// Extent of a segment's samples.
    struct Segment {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };

    dsp::SampleFormat format = dsp::SampleFormat::cf32;
    StoredIntegers integers{};
    double sample_rate_hz = 0;
    std::optional<double> center_frequency_hz{};
    std::vector<Segment> segments{};
    bool is_cut_off = false;         ///< the last header promises more than there is
    std::uint64_t no_header_at = 0;  ///< byte at which one has to stand and does not: what is behind it is
                                     ///< taken for samples; 0: all are there
};

/// Reads the headers; none where the file begins with no such one. Throws IoError where the samples are real
/// numbers, or segments differ in rate or frequency.
std::optional<GnuRadioMeta> read_gnuradio_meta(const std::filesystem::path& path);

}  // namespace tidemill::io
