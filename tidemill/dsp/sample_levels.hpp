#pragma once

namespace tidemill::dsp {

/// Between these, powers of floating-point samples and their products are numbers that single precision
/// holds. What is larger, conversion replaces; what is smaller has no power.
inline constexpr float kLeastLevel = 1e-19F, kLargestSample = 1e9F;

}  // namespace tidemill::dsp
