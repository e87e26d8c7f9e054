#pragma once

#include <optional>

#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/gpu/ldpc/device_ldpc_codes.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill::cli {

/// Cost on a device of the LDPC frames at a reception's beginning, in batches of several sizes, from the
/// host's memory to the host's memory; a block of samples has so many of them. Nothing where none was heard.
/// Throws DeviceError.
std::optional<BatchCost> ldpc_batch_cost(const ReceptionJob& job, const dvbs2::LdpcOnDevice& device,
                                         double frames_per_block);

}  // namespace tidemill::cli
