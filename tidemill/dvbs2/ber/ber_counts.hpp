#pragma once

#include <cstdint>

namespace tidemill::dvbs2 {

/// Counts of frames whose content is known.
struct BerCounts {
    std::uint64_t frames = 0;           ///< sent
    std::uint64_t frame_errors = 0;     ///< of these, not delivered right
    std::uint64_t frames_lost = 0;      ///< of these, never seen: no header found, or no lock
    std::uint64_t undetected = 0;       ///< of the errors, given out as if right
    std::uint64_t bits = 0;             ///< compared: those of the BBFRAMEs that were seen
    std::uint64_t bit_errors = 0;       ///< behind the outer code
    std::uint64_t ldpc_iterations = 0;  ///< of the frames seen

    BerCounts& operator+=(const BerCounts& more) {
        frames += more.frames;
        frame_errors += more.frame_errors;
        frames_lost += more.frames_lost;
        undetected += more.undetected;
        bits += more.bits;
        bit_errors += more.bit_errors;
        ldpc_iterations += more.ldpc_iterations;
        return *this;
    }
    friend bool operator==(const BerCounts&, const BerCounts&) = default;

    double frame_error_rate() const {
        return frames == 0 ? 0 : static_cast<double>(frame_errors) / static_cast<double>(frames);
    }
    double bit_error_rate() const {
        return bits == 0 ? 0 : static_cast<double>(bit_errors) / static_cast<double>(bits);
    }
};

}  // namespace tidemill::dvbs2
