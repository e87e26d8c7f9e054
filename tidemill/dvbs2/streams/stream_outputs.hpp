#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tidemill/dvbs2/streams/user_packet.hpp"

namespace tidemill::dvbs2 {

/// Treatment of a whole packet whose CRC-8 is wrong.
enum class DamagedPacket : std::uint8_t { drop, mark };  // mark: set its transport_error_indicator

/// Input streams that are wanted of several, and the treatment of their damaged packets.
struct StreamChoice {
    bool all = false;  ///< every one; otherwise `only` that one, or the first that is seen
    std::optional<std::uint8_t> only{};
    DamagedPacket damaged = DamagedPacket::drop;
};

/// Where streams go. Streams of a single-input signal have number 0.
struct StreamOutputs {
    /// Whole packets of a transport stream.
    std::function<void(std::span<const std::uint8_t> packets, std::uint8_t stream)> packets;
    /// Called for each completed part of a generic stream: whole packets, each with its sync byte, or the
    /// data field of a continuous one, whole bytes. Without this output generic streams are unsupported.
    std::function<void(std::span<const std::uint8_t> bytes, std::uint8_t stream)> generic{};
    /// The data field of a frame of a continuous generic stream, whole bytes: where packets begin anew in
    /// each, as those of GSE do. Besides or instead of `generic`.
    std::function<void(std::span<const std::uint8_t> field, std::uint8_t stream)> fields{};
    /// The sender's symbol counter (ISCR, 22 bits) at the last packet that a frame completes; before
    /// `packets`.
    std::function<void(std::uint32_t symbols, std::uint8_t stream)> input_clock{};
};

/// Counts of a PacketExtractor so far.
struct PacketCounts {
    std::uint64_t frames = 0;         // all that were pushed
    std::uint64_t frames_lost = 0;    // reported by lose()
    std::uint64_t frames_faulty = 0;  // impossible headers: as if lost
    std::uint64_t frames_unsupported = 0;
    std::uint64_t frames_of_other_streams = 0;
    std::uint64_t frames_completed = 0;  // whose headers leave SYNC or UPL 0; used all the same
    std::uint64_t resynchronisations =
        0;                      // packets did not go on where they had to: a frame was missed unnoticed
    std::uint64_t packets = 0;  // given out, marked ones and null packets put back included
    std::uint64_t packets_marked = 0;
    std::uint64_t packets_dropped = 0;     // begun or whole ones; those in lost frames are not known
    std::uint64_t packets_cut_off = 0;     // begun when the stream ended: no loss
    std::uint64_t packets_unverified = 0;  // given out, but their CRC-8 was lost with the next frame
    std::uint64_t null_packets = 0;        // deleted by the sender and put back
    std::array<std::uint64_t, kIssyKinds> issy_fields{};  // taken off packets, by IssyKind
};

}  // namespace tidemill::dvbs2
