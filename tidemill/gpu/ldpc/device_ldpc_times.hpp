#pragma once

#include <span>

#include "tidemill/gpu/ldpc/device_ldpc_codes.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"

namespace tidemill::dvbs2 {

/// Times of batches of these frames when they follow each other with as many under way as there are places,
/// from the host's memory to the host's memory; and the device's time for the copies and the kernel of one
/// that is alone. Medians of `runs`. Throws DeviceError.
BatchTimes times_in_flight(DeviceLdpcCodes& codes, std::span<const LdpcFrame> frames, int runs);

}  // namespace tidemill::dvbs2
