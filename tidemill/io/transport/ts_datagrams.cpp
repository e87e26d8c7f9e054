#include "tidemill/io/transport/ts_datagrams.hpp"

namespace tidemill::io {
namespace {

// Payload of an RTP packet (RFC 3550, 5.1) without padding; empty if it is no RTP packet.
std::span<const std::uint8_t> rtp_payload(std::span<const std::uint8_t> packet) {
    constexpr std::size_t kFixedBytes = 12, kWordBytes = 4;
    if (packet.size() < kFixedBytes || packet[0] >> 6 != 2) return {};
    std::size_t header = kFixedBytes + kWordBytes * (packet[0] & 0x0fU);
    if ((packet[0] & 0x10) != 0) {
        if (header + kWordBytes > packet.size()) return {};
        const std::size_t words = packet[header + 2] << 8 | packet[header + 3];
        header += kWordBytes * (1 + words);
    }
    const std::size_t padding = (packet[0] & 0x20) != 0 ? packet.back() : 0U;
    if (header + padding >= packet.size()) return {};
    return packet.subspan(header, packet.size() - header - padding);
}

}  // namespace

bool TsDatagrams::push(std::span<const std::uint8_t> datagram, std::vector<std::uint8_t>& packets) {
    if (packet_bytes_ == 1) {
        packets.insert(packets.end(), datagram.begin(), datagram.end());
        return true;
    }
    if (const auto layout = layout_of(datagram)) {
        take(datagram, *layout, packets);
        return true;
    }
    const auto payload = rtp_payload(datagram);
    if (const auto layout = layout_of(payload)) {
        if (comes_in_order(datagram)) {
            take(payload, *layout, packets);
        } else {
            ++counts_.rtp_late;
            counts_.bytes_left_out += payload.size();
        }
        return true;
    }
    ++counts_.datagrams_left_out;
    counts_.bytes_left_out += datagram.size();
    return false;
}

// The one by which most packets have their sync byte, and more than half of them.
std::optional<TsDatagrams::Layout> TsDatagrams::layout_of(std::span<const std::uint8_t> piece) const {
    constexpr Layout kLayouts[] = {{kTsPacketBytes, 0}, {kTsPacketBytes + 16, 0}, {kTsPacketBytes + 4, 4}};
    std::optional<Layout> best;
    double most = 0.5;
    const auto look = [&](const Layout& layout) {
        if (piece.empty() || piece.size() % layout.distance != 0) return;
        const auto packets = static_cast<double>(piece.size() / layout.distance);
        const double share = static_cast<double>(sync_bytes(piece, layout)) / packets;
        if (share <= most) return;
        most = share;
        best = layout;
    };
    if (packet_bytes_ != kTsPacketBytes || sync_ != kTsSyncByte)
        look({packet_bytes_, 0});
    else
        for (const Layout& layout : kLayouts) look(layout);
    return best;
}

std::size_t TsDatagrams::sync_bytes(std::span<const std::uint8_t> piece, const Layout& layout) const {
    std::size_t count = 0;
    for (std::size_t at = layout.offset; at < piece.size(); at += layout.distance)
        count += piece[at] == sync_ ? 1U : 0U;
    return count;
}

void TsDatagrams::take(std::span<const std::uint8_t> piece, const Layout& layout,
                       std::vector<std::uint8_t>& packets) {
    for (std::size_t at = layout.offset; at < piece.size(); at += layout.distance) {
        const auto packet = piece.subspan(at, packet_bytes_);
        if (packet[0] == sync_)
            packets.insert(packets.end(), packet.begin(), packet.end());
        else
            counts_.bytes_left_out += layout.distance;
    }
}

// A receiver of transport packets can use none twice, nor one behind its successor. A number that is far away
// is that of another stream (RFC 3550, A.1).
bool TsDatagrams::comes_in_order(std::span<const std::uint8_t> datagram) {
    constexpr std::uint16_t kMostMissing = 3000, kMostLate = 100;
    const auto number = static_cast<std::uint16_t>(datagram[2] << 8 | datagram[3]);
    const auto ahead = static_cast<std::uint16_t>(number - next_number_.value_or(number));
    if (ahead > UINT16_MAX - kMostLate) return false;
    if (ahead <= kMostMissing) counts_.rtp_missing += ahead;
    next_number_ = static_cast<std::uint16_t>(number + 1);
    return true;
}

}  // namespace tidemill::io
