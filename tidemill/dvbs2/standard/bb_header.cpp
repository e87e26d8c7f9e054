#include "tidemill/dvbs2/standard/bb_header.hpp"

#include "tidemill/fec/crc8.hpp"

namespace tidemill::dvbs2 {
namespace {

std::uint16_t load16(const std::uint8_t* bytes) {
    return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

void store16(std::uint16_t value, std::uint8_t* bytes) {
    bytes[0] = static_cast<std::uint8_t>(value >> 8);
    bytes[1] = static_cast<std::uint8_t>(value);
}

bool is_packetised(StreamType type) {
    return type == StreamType::transport || type == StreamType::generic_packetised;
}

BbFault fault_of(const BbHeader& header, std::size_t frame_bits) {
    if (header.stream_type == StreamType::reserved) {
        return BbFault::reserved_stream_type;
    }
    if (header.data_bits > frame_bits - 8 * kBbHeaderBytes) {
        return BbFault::data_field_too_long;
    }
    const bool starts_beyond =
        header.sync_distance >= header.data_bits && header.sync_distance != kNoPacketStarts;
    if (is_packetised(header.stream_type) && header.data_bits > 0 && starts_beyond) {
        return BbFault::sync_outside_data_field;
    }
    return BbFault::none;
}

}  // namespace

std::string_view describe(BbFault fault) {
    switch (fault) {
        case BbFault::none:
            return "no fault";
        case BbFault::too_short:
            return "the frame is shorter than a BBHEADER";
        case BbFault::checksum:
            return "the CRC-8 of the BBHEADER is wrong";
        case BbFault::reserved_stream_type:
            return "the stream type is reserved; in DVB-S2X it means GSE in high-efficiency mode (GSE-HEM)";
        case BbFault::data_field_too_long:
            return "the data field is longer than the frame";
        case BbFault::sync_outside_data_field:
            return "the first packet starts behind the data field";
        case BbFault::generic_stream:
            return "a generic stream, not a transport stream";
        case BbFault::packet_format:
            return "length, sync byte, ISSY and null-packet deletion of its packets do not fit together";
        case BbFault::other_input_stream:
            return "the frame belongs to another input stream";
        case BbFault::high_efficiency:
            return "a stream in high-efficiency mode (HEM), which is not supported";
    }
    return "unknown fault";
}

ParsedBbHeader parse_bb_header(std::span<const std::uint8_t> bbframe) {
    if (bbframe.size() < kBbHeaderBytes) {
        return {{}, BbFault::too_short};
    }
    const auto* bytes = bbframe.data();
    BbHeader header;
    header.stream_type = static_cast<StreamType>(bytes[0] >> 6);
    header.single_input = (bytes[0] & 0x20) != 0;
    header.constant_coding = (bytes[0] & 0x10) != 0;
    header.input_sync_indicator = (bytes[0] & 0x08) != 0;
    header.null_packet_deletion = (bytes[0] & 0x04) != 0;
    header.rolloff_code = bytes[0] & 0x03;
    header.input_stream = bytes[1];
    header.packet_bits = load16(bytes + 2);
    header.data_bits = load16(bytes + 4);
    header.sync = bytes[6];
    header.sync_distance = load16(bytes + 7);
    const std::uint8_t crc = fec::crc8(bbframe.first(kBbHeaderBytes - 1));
    if (crc != bytes[9]) {
        // The mode, 1, is added to the CRC-8; UPL and SYNC have other meanings then (EN 302 755, 5.1.7).
        return {header, (crc ^ 1) == bytes[9] ? BbFault::high_efficiency : BbFault::checksum};
    }
    return {header, fault_of(header, 8 * bbframe.size())};
}

void write_bb_header(const BbHeader& header, std::span<std::uint8_t, kBbHeaderBytes> to) {
    to[0] = static_cast<std::uint8_t>(static_cast<int>(header.stream_type) << 6 |
                                      (header.single_input ? 0x20 : 0) | (header.constant_coding ? 0x10 : 0) |
                                      (header.input_sync_indicator ? 0x08 : 0) |
                                      (header.null_packet_deletion ? 0x04 : 0) | header.rolloff_code);
    to[1] = header.input_stream;
    store16(header.packet_bits, &to[2]);
    store16(header.data_bits, &to[4]);
    to[6] = header.sync;
    store16(header.sync_distance, &to[7]);
    to[9] = fec::crc8(to.first<kBbHeaderBytes - 1>());
}

}  // namespace tidemill::dvbs2
