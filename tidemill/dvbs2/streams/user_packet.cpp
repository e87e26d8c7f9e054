#include "tidemill/dvbs2/streams/user_packet.hpp"

#include <cassert>

namespace tidemill::dvbs2 {
namespace {

// UPL alone does not decide: 191 bytes are a long ISSY field, or a short one and a DNP byte.
std::optional<UserPacketLayout> transport_layout(const BbHeader& header) {
    if (header.sync != io::kTsSyncByte) return std::nullopt;
    for (const std::size_t issy_bytes : {0U, 2U, 3U}) {
        const UserPacketLayout layout{io::kTsPacketBytes, issy_bytes, header.null_packet_deletion};
        if (header.input_sync_indicator == (issy_bytes > 0) && header.packet_bits == 8 * layout.bytes()) {
            return layout;
        }
    }
    return std::nullopt;
}

// Only transport streams have null packets, and only they may have long ISSY fields (Table D.1, note).
std::optional<UserPacketLayout> generic_layout(const BbHeader& header) {
    const std::size_t issy_bytes = header.input_sync_indicator ? 2 : 0;
    const std::size_t bytes = header.packet_bits / 8U;
    if (header.null_packet_deletion || header.packet_bits % 8 != 0 || bytes <= issy_bytes) {
        return std::nullopt;
    }
    return UserPacketLayout{bytes - issy_bytes, issy_bytes, false};
}

}  // namespace

std::optional<UserPacketLayout> user_packet_layout(const BbHeader& header) {
    return header.stream_type == StreamType::transport ? transport_layout(header) : generic_layout(header);
}

// A long ISSY field or a short one: without UPL this is open.
BbHeader completed(BbHeader header) {
    if (header.stream_type != StreamType::transport) return header;
    if (header.sync == 0) header.sync = io::kTsSyncByte;
    const UserPacketLayout layout{io::kTsPacketBytes, 0, header.null_packet_deletion};
    if (header.packet_bits == 0 && !header.input_sync_indicator)
        header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
    return header;
}

const char* name(IssyKind kind) {
    switch (kind) {
        case IssyKind::clock_short:
            return "ISCR short";
        case IssyKind::clock_long:
            return "ISCR long";
        case IssyKind::buffer_size:
            return "BUFS";
        case IssyKind::buffer_status:
            return "BUFSTAT";
        case IssyKind::reserved:
            break;
    }
    return "reserved";
}

// The first bits decide, but a short clock fills exactly two bytes and a long one three.
IssyKind issy_kind(std::span<const std::uint8_t> field) {
    const bool is_long = field.size() == 3;
    if ((field[0] & 0x80) == 0) return is_long ? IssyKind::reserved : IssyKind::clock_short;
    if ((field[0] & 0x40) == 0) return is_long ? IssyKind::clock_long : IssyKind::reserved;
    switch (field[0] >> 4 & 3) {
        case 0:
            return IssyKind::buffer_size;
        case 2:
            return IssyKind::buffer_status;
        default:
            return IssyKind::reserved;
    }
}

std::uint32_t read_long_iscr(std::span<const std::uint8_t> field) {
    return (field[0] & 0x3fU) << 16 | std::uint32_t{field[1]} << 8 | field[2];
}

void write_iscr(std::uint64_t symbols, std::span<std::uint8_t> field) {
    assert(field.size() == 2 || field.size() == 3);
    for (std::size_t i = field.size(); i-- > 0; symbols >>= 8) field[i] = static_cast<std::uint8_t>(symbols);
    field[0] = field.size() == 2 ? field[0] & 0x7fU : (field[0] & 0x3fU) | 0x80U;
}

}  // namespace tidemill::dvbs2
