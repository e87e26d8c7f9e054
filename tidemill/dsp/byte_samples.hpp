#pragma once

#include <cstdint>
#include <span>

namespace tidemill::dsp {

/// One complex sample as a radio of eight bits gives it, full scale 128.
struct Ci8 {
    std::int8_t re, im;
};

/// Number of samples with a part at an end of its range, as conversion counts them.
std::uint64_t count_clipped(std::span<const Ci8> samples);

}  // namespace tidemill::dsp
