#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {

/// How an input packet is sent: its sync byte, which a CRC-8 replaces, and its body; then, where the BBHEADER
/// announces them, an ISSY field and a DNP byte (EN 302 307-1, D.2 and D.3).
struct UserPacketLayout {
    std::size_t input_bytes = io::kTsPacketBytes;  ///< as it came, sync byte included
    std::size_t issy_bytes = 0;                    ///< 0, 2 or 3
    bool has_dnp = false;                          ///< the number of null packets deleted before this packet

    /// Size of all of it: UPL, in bytes.
    std::size_t bytes() const { return input_bytes + issy_bytes + (has_dnp ? 1U : 0U); }

    friend bool operator==(const UserPacketLayout&, const UserPacketLayout&) = default;
};

/// The layout that UPL, SYNC, ISSYI and NPD define for a packetised stream; none when they contradict each
/// other.
std::optional<UserPacketLayout> user_packet_layout(const BbHeader& header);

/// The header with what its packets must have where it leaves SYNC or UPL 0, as some transmitters of
/// transport streams do: their CRC-8 shows whether they do.
BbHeader completed(BbHeader header);

/// Content of an ISSY field (EN 302 307-1, Table D.1).
enum class IssyKind : std::uint8_t {
    clock_short,    // ISCR, 15 bits of the modulator's symbol counter when the packet came in
    clock_long,     // the same, 22 bits
    buffer_size,    // BUFS: most bits that the receiver has to keep
    buffer_status,  // BUFSTAT: bits that it should have kept by now
    reserved
};

inline constexpr std::size_t kIssyKinds = 5;

/// "ISCR short" and so on, as the standard names them.
const char* name(IssyKind kind);

/// Kind of a field of 2 or 3 bytes.
IssyKind issy_kind(std::span<const std::uint8_t> field);

/// Clock in a field of 3 bytes with a long clock: the symbol counter's 22 lowest bits.
std::uint32_t read_long_iscr(std::span<const std::uint8_t> field);

/// Fills a field of 2 or 3 bytes with the counter's 15 or 22 lowest bits.
void write_iscr(std::uint64_t symbols, std::span<std::uint8_t> field);

}  // namespace tidemill::dvbs2
