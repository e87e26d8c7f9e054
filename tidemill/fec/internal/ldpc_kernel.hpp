#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tidemill/fec/internal/ldpc_schedule.hpp"

namespace tidemill::fec {

/// Working memory of one decoder, aligned for the widest vectors.
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
    std::size_t halvings = 0;        ///< of the LLRs
};

/// Offset by which min-sum's smallest magnitude is reduced: it overestimates, and most so where magnitudes
/// are small.
inline constexpr int kLdpcOffset = 2;

/// A sweep by min-sum, before or after messages are known, or by sum-product, which takes longer and errs
/// less.
enum class LdpcSweep : std::uint8_t { first, fast, fine };

/// Larger magnitudes count as this much. A saturated posterior (127) must outweigh the message that is taken
/// out of it by far, or right decisions turn over: at 63 a few frames in a thousand never settle.
inline constexpr int kLdpcMagnitudeCap = 40;

/// Decisions that fail fewer checks than this are nearly right: the outer code may correct them.
inline constexpr std::size_t kLdpcNearlyRight = 32;

/// And where so many iterations by sum-product on end bring them no nearer, none will.
inline constexpr int kLdpcPatience = 20;

/// One sweep over all layers on the best instruction set of this machine; the one after loading is the first.
void ldpc_sweep(const LdpcSchedule& schedule, LdpcSweep kind, LdpcMemory& memory);

/// How many checks the decisions fail, 0 for a codeword; from `most` on they are not all counted. The memory
/// is as before.
std::size_t ldpc_failed_checks(const LdpcSchedule& schedule, std::size_t most, LdpcMemory& memory);

}  // namespace tidemill::fec
