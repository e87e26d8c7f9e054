#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemill/fec/detail_ldpc_schedule.hpp"

namespace tidemill::fec {

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
    std::vector<Lanes> extrinsics;   ///< per edge of one layer, from bit to check
    std::vector<Column> changes;     ///< per shared edge of one layer
};

/// The decoder's arithmetic in integers.
struct LdpcArithmetic {
    std::int16_t factor_q15;
    std::uint8_t magnitude_cap;
};

/// How far a decoding went.
struct LdpcProgress {
    int sweeps;      ///< begun
    int last_layer;  ///< done
    bool converged;  ///< all checks hold
};

/// Layered min-sum on the best instruction set of this machine.
LdpcProgress ldpc_sweep(const LdpcSchedule& schedule, LdpcArithmetic arithmetic, int max_sweeps,
                        bool stop_early, LdpcMemory& memory);

}  // namespace tidemill::fec
