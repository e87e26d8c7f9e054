#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Facts that travel with a block of raw samples (its history in front of it, see front_block.hpp).
struct RawInfo {
    std::int64_t block = 0;
    std::uint32_t begin = 0;  ///< first sample of the window that was really received
    std::uint32_t end = 0;    ///< one past the last
    std::uint32_t anew = 0;   ///< 1: another signal begins in it, which owes nothing to the one before
};

/// How raw blocks of one stream look.
struct RawLayout {
    dsp::SampleFormat format;
    FrontGeometry geometry;

    /// Samples of a block and of its history.
    std::size_t window_samples() const { return geometry.history_samples() + geometry.block_samples(); }
    /// The same in bytes.
    std::size_t window_bytes() const { return window_samples() * dsp::bytes_per_sample(format); }

    /// Samples of the block itself that were really received.
    std::uint32_t received(const RawInfo& info) const {
        return info.end - std::min(info.end, geometry.history_samples());
    }

    /// Converts a window, with zeros where nothing was received.
    dsp::SampleDefects convert(std::span<const std::byte> raw, const RawInfo& info,
                               std::span<Iq> samples) const;

    /// A window that convert() would only copy, as it lies in `raw`; empty: it is another one.
    std::span<const Iq> samples_in(std::span<const std::byte> raw, const RawInfo& info) const;

    /// A window of ci8 that was received as a whole, as it lies in `raw`; empty: it is another one.
    std::span<const dsp::Ci8> bytes_in(std::span<const std::byte> raw, const RawInfo& info) const;
};

}  // namespace tidemill::dvbs2
