#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Interleaved I/Q samples as radios and recordings store them: little endian, or big endian where it says
/// so.
enum class SampleFormat { cf32, ci16, ci8, cu8, cf64, cf32_be, ci16_be, cf64_be };

/// The same numbers with their bytes in the usual order.
SampleFormat little_endian(SampleFormat format);

/// Whether the bytes of each number are the other way round here.
inline bool is_big_endian(SampleFormat format) {
    return format != little_endian(format);
}

/// Turns round the bytes of each number of a big-endian format; `to` may be `from`, does nothing else
/// otherwise.
void swap_bytes(SampleFormat format, std::span<const std::byte> from, std::span<std::byte> to);

/// Bytes of one complex sample.
std::size_t bytes_per_sample(SampleFormat format);

/// Samples that conversion had to repair or wants reported, in complex samples.
struct SampleDefects {
    std::uint64_t non_finite = 0;  // either part NaN, infinite or beyond 1e9: replaced by 0
    std::uint64_t clipped = 0;     // either part at an end of the integer range (never for floating point)
};

/// Converts bytes to samples with full scale 1.0 (cu8 is centred on 127.5); bytes.size() must be
/// samples.size() * bytes_per_sample(format).
SampleDefects convert_samples(SampleFormat format, std::span<const std::byte> bytes, std::span<Iq> samples);

/// Whether converting samples of cf32 would change none of them.
bool all_usable(std::span<const Iq> samples);

}  // namespace tidemill::dsp
