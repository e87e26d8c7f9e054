#pragma once

#include "tidemill/dvbs2/carrier/channel_learner.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// By how much a header's own estimate of frequency is above the carrier's, in cycles per symbol: a header's
/// echoes are the same in each frame, so what they feign is no noise that many frames would average.
double header_bias(const ChannelEstimate& channel, const Pls& pls);

}  // namespace tidemill::dvbs2
