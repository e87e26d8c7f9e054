#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/dvbs2/channel/multipath.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// Conditions for a receiver that must find everything itself. Frames come in bursts; frequency, drift and
/// clock offset of a burst lie anywhere within +- the limits, phase and delay anywhere.
struct FullSync {
    double frequency_cycles_per_symbol = 0.1;
    double drift_cycles_per_symbol2 = 0;
    double clock_offset_ppm = 100;
    double phase_noise_deg = 0;  ///< standard deviation of the phase walk over 1000 symbols
    std::vector<Echo> echoes{};
    double rolloff = 0.20;
    int gold_code = 0;
    std::uint64_t frames_per_burst = 100;
};

/// An error rate to be counted: what is sent, and over how much noise.
struct BerPoint {
    Pls pls;
    double esn0_db = 0;  ///< per data symbol
    std::uint64_t seed = 1;
    int max_iterations = 150;             ///< of the LDPC decoder, with ideal synchronisation
    std::optional<FullSync> full_sync{};  ///< none: ideal synchronisation
    std::uint64_t first_frame = 0;  ///< number of the first one sent; where a burst begins, if there are
    /// Received by exact demapping and floating-point sum-product of 50 iterations, to compare the receiver's
    /// own with on the same frames and noise; with ideal synchronisation.
    bool by_sum_product = false;
    int fast_iterations = 0;  ///< of `max_iterations`, by min-sum: see fec::LdpcSettings
};

/// When counting ends: at whatever comes first.
struct BerLimits {
    std::uint64_t frames = 1000;
    std::uint64_t frame_errors = 100;
};

}  // namespace tidemill::dvbs2
