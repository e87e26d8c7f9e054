#include "tidemill/fec/ldpc_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tidemill::fec {
namespace {

// By code rate. One step of the LLR is what the decoder takes off the smallest magnitude, so the scale sets
// how strongly it corrects. Found by decoding QPSK over white noise near EN 302 307-1, table 13: half a step
// down or up costs iterations or stability, 3/5 above 2.5 and 1/4 below 2.5 first.
constexpr double kScale[] = {3.25, 3.0, 2.75, 2.75, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5};

// Found by decoding QPSK, 8PSK and 32APSK half a decibel over table 13. 8PSK 3/5 needs the long first
// attempt.
constexpr LdpcAttempt kOnce[] = {{50, 1.0}};
constexpr LdpcAttempt kAttempts3_5[] = {{24, 1.0}, {11, 0.6}, {15, 1.2}};
constexpr LdpcAttempt kAttempts5_6[] = {{13, 1.0}, {12, 0.75}, {12, 0.6}, {13, 1.3}};

}  // namespace

std::span<const LdpcAttempt> ldpc_attempts(const Dvbs2Code& code) {
    if (code.frame_size == FrameSize::short_ && code.rate == CodeRate::r3_5) return kAttempts3_5;
    if (code.frame_size == FrameSize::short_ && code.rate == CodeRate::r5_6) return kAttempts5_6;
    return kOnce;
}

Llr scaled(Llr llr, double factor) {
    return static_cast<Llr>(std::clamp(std::round(llr * factor), -127.0, 127.0));
}

double llr_scale(const Dvbs2Code& code) {
    return kScale[static_cast<std::size_t>(code.rate)];
}

}  // namespace tidemill::fec
