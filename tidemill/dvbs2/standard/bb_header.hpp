#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tidemill::dvbs2 {

inline constexpr std::size_t kBbHeaderBytes = 10;        // EN 302 307-1, 5.1.6
inline constexpr std::uint16_t kNoPacketStarts = 65535;  // SYNCD when no packet starts in the data field

/// Content of the data fields (TS/GS).
enum class StreamType : std::uint8_t {
    generic_packetised = 0,
    generic_continuous = 1,
    reserved = 2,
    transport = 3
};

/// The fields of a BBHEADER (EN 302 307-1, 5.1.6); lengths in bits.
struct BbHeader {
    StreamType stream_type = StreamType::transport;
    bool single_input = true;           // SIS/MIS
    bool constant_coding = true;        // CCM/ACM
    bool input_sync_indicator = false;  // ISSYI
    bool null_packet_deletion = false;  // NPD
    std::uint8_t rolloff_code = 2;      // 0: 0.35, 1: 0.25, 2: 0.20
    std::uint8_t input_stream = 0;      // ISI, with several input streams
    std::uint16_t packet_bits = 1504;   // UPL
    std::uint16_t data_bits = 0;        // DFL
    std::uint8_t sync = 0x47;           // SYNC
    std::uint16_t sync_distance = 0;    // SYNCD

    friend bool operator==(const BbHeader&, const BbHeader&) = default;
};

/// Why a BBFRAME gives no packets.
enum class BbFault : std::uint8_t {
    none,
    too_short,
    checksum,
    reserved_stream_type,
    data_field_too_long,
    sync_outside_data_field,
    generic_stream,
    packet_format,
    other_input_stream,
    high_efficiency,
};
inline constexpr std::size_t kBbFaults = 10;

/// A sentence for people, without a full stop.
std::string_view describe(BbFault fault);

/// A header and, when it cannot be true, the first reason.
struct ParsedBbHeader {
    BbHeader header;
    BbFault fault = BbFault::none;
};

/// Reads the header of a packed BBFRAME of K_bch bits and checks its CRC-8 and its lengths against K_bch.
ParsedBbHeader parse_bb_header(std::span<const std::uint8_t> bbframe);

/// Writes a header with its CRC-8.
void write_bb_header(const BbHeader& header, std::span<std::uint8_t, kBbHeaderBytes> to);

}  // namespace tidemill::dvbs2
