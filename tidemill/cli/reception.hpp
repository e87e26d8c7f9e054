#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/dvbs2/rx/receiver.hpp"
#include "tidemill/io/recording.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// What a user may say about a recording and how to receive it.
struct ReceptionOptions {
    std::string recording;
    std::string format;         ///< of raw samples whose file name does not tell; empty: by the name
    double sample_rate_hz = 0;  ///< 0: as the metadata say
    double symbol_rate_hz = 0;  ///< 0: half the sample rate
    double rolloff = 0.20;
    int gold_code = 0;
};

/// A recording with a receiver's settings, checked.
struct ReceptionJob {
    io::Recording recording;
    dvbs2::ReceiverConfig config;
    std::vector<std::string> warnings;
};

/// Examines the recording and fills in the settings; throws IoError or WrongUsage.
ReceptionJob prepare(const ReceptionOptions& options);

/// What profiling a reception found.
struct ReceptionProfile {
    Profile profile;                 ///< microseconds per block of raw samples
    double info_bits_per_block = 0;  ///< what a block carried in the mean; 0 when nothing was received
    std::vector<std::string> warnings;
};

/// Receives the recording's beginning in order on each kind of core that `platform` has, `seconds` each once
/// the first frame is there, and throws away what it hears.
ReceptionProfile profile_reception(const ReceptionJob& job, const Topology& topology,
                                   const Platform& platform, double seconds);

}  // namespace tidemill::cli
