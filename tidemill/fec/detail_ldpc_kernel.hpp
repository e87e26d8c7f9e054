#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemill/fec/detail_ldpc_schedule.hpp"

// For the decoder's files that use Highway: vectors are members of structures and of arrays there, which
// those of unknown length cannot be; and all must use one length, as a column's repeated head is no longer
// than that.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

namespace tidemill::fec {

/// Bytes that all lanes of one edge take in whole vectors.
inline constexpr std::size_t kPaddedLanes = 384;

/// What one decoder works in, aligned for the widest vectors.
struct LdpcMemory {
    struct alignas(64) Lanes {
        std::array<std::int8_t, kPaddedLanes> values;
    };
    struct alignas(64) Column {
        std::array<std::int8_t, kColumnStride> values;
    };

    std::vector<Column> posteriors;  ///< per block column
    std::vector<Lanes> messages;     ///< per edge, from check to bit
    std::vector<Lanes> changes;      ///< of the messages of one layer's shared edges
};

/// What the smallest magnitude is reduced by: min-sum overestimates, and most so where magnitudes are small.
inline constexpr int kLdpcOffset = 1;

/// Larger magnitudes count as this much. A saturated posterior (127) must outweigh the message that is taken
/// out of it by far, or right decisions turn over: at 63 a few frames in a thousand never settle.
inline constexpr int kLdpcMagnitudeCap = 40;

/// How far a decoding went.
struct LdpcProgress {
    int sweeps;
    bool converged;  ///< all checks hold
};

/// Layered min-sum on the best instruction set of this machine.
LdpcProgress ldpc_sweep(const LdpcSchedule& schedule, int max_sweeps, bool stop_early, LdpcMemory& memory);

}  // namespace tidemill::fec
