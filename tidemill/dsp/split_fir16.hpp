#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Whether split_fir16() is faster than split_fir() here: on x86 a multiplication of 16-bit integers with the
/// sum of two products costs as much as one of floats and does twice as many; on Arm it does not.
#if defined(__x86_64__)
inline constexpr bool kSplitFir16IsFaster = true;
#else
inline constexpr bool kSplitFir16IsFaster = false;
#endif

/// A stream at two samples per symbol as whole numbers, as rotate_to_pairs() makes them, of which 1 stands
/// for `unit`.
struct ShortPairs {
    std::span<const std::int16_t> parts;
    float unit = 1;

    std::size_t size() const { return parts.size() / 4; }
};

/// As split_fir(), in 16-bit integers, with any number of taps up to 127: what is rounded lies 75 dB and more
/// below a signal that is a tenth as large as 16 bits hold. x holds at least
/// `even_out.size() + taps.size() / 2` pairs. Every instruction set gives the same bits.
void split_fir16(ShortPairs x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out);

}  // namespace tidemill::dsp
