#pragma once

#include <functional>
#include <memory>

#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

namespace tidemill::cli {

/// Result of profiling a reception.
struct ReceptionProfile {
    Profile profile;                 ///< microseconds per block of raw samples
    double info_bits_per_block = 0;  ///< what a block carried in the mean; 0 when nothing was received
    double frames_per_block = 0;     ///< that reached the decoder, likewise
};

using MakeReceivers = std::function<std::unique_ptr<Receivers>(io::SampleSource&)>;

/// Receives the beginning of the samples in order on each kind of cores, by receivers that throw away what
/// they hear. What counts comes once the first frame is there.
ReceptionProfile profile_receivers(const ReceptionJob& job, const Topology& topology,
                                   const ProfileOptions& how, const MakeReceivers& make);

/// The same for one carrier. A device, if there is one, is a further kind, on which the LDPC frames heard
/// there are decoded in batches; throws an Error for what
/// it refuses.
ReceptionProfile profile_reception(const ReceptionJob& job, const Topology& topology,
                                   const ProfileOptions& how, const DecodingDevice* device = nullptr);

}  // namespace tidemill::cli
