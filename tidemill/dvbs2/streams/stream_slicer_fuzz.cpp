#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/dvbs2/streams/stream_slicer.hpp"
#include "tidemill/dvbs2/streams/stream_sorter.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace {

using namespace tidemill::dvbs2;
using tidemill::io::kTsPacketBytes;

// The first byte chooses, the others are packets: a byte each, 0 being a null packet, 1 a run of 255 of them.
std::vector<std::uint8_t> packets_of(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> packets;
    const auto append = [&](std::span<const std::uint8_t> packet) {
        packets.insert(packets.end(), packet.begin(), packet.end());
    };
    for (const std::uint8_t byte : bytes) {
        for (int i = 0; i < (byte == 0 ? 1 : byte == 1 ? 255 : 0); ++i) append(tidemill::io::kNullPacket);
        if (byte < 2) continue;
        std::vector<std::uint8_t> packet(kTsPacketBytes, byte);
        packet[0] = tidemill::io::kTsSyncByte;
        packet[2] = static_cast<std::uint8_t>(packets.size());
        append(packet);
    }
    return packets;
}

BbHeader header_of(std::uint8_t choice) {
    BbHeader header;
    header.null_packet_deletion = choice & 1;
    const std::size_t issy_bytes = choice % 3 == 0 ? 0 : 1 + choice % 3;
    header.input_sync_indicator = issy_bytes > 0;
    const UserPacketLayout layout{kTsPacketBytes, issy_bytes, header.null_packet_deletion};
    header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
    header.sync = tidemill::io::kTsSyncByte;
    return header;
}

}  // namespace

/// Packets with null packets among them go through BBFRAMEs of any length, with ISSY and without, and come
/// out as they went in; where frames are lost on the way, only whole packets come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMostPackets = 400;
    constexpr std::uint8_t kLose = 0x80;
    if (size < 3) return 0;
    const std::uint8_t choice = data[0];
    const std::size_t frame_bytes = kBbHeaderBytes + 20 + 8 * data[1];
    const auto sent = packets_of(std::span(data, size).subspan(2).first(std::min(size - 2, kMostPackets)));
    if (sent.empty()) return 0;
    StreamSlicer slicer(header_of(choice), 1000);
    slicer.feed(sent);
    std::vector<std::uint8_t> received;
    StreamSorter sorter({.all = true, .damaged = DamagedPacket::drop},
                        {[&](std::span<const std::uint8_t> packets, std::uint8_t) {
                             received.insert(received.end(), packets.begin(), packets.end());
                         },
                         [](std::span<const std::uint8_t>, std::uint8_t) { std::abort(); }});
    std::vector<std::uint8_t> bbframe(frame_bytes);
    for (std::size_t n = 0; slicer.next(bbframe) || slicer.finish(bbframe); ++n)
        choice >= kLose&& data[n % size] % 7 == 0 ? sorter.lose() : sorter.push(bbframe);
    sorter.finish();
    if (received.size() % kTsPacketBytes != 0) std::abort();
    if (choice < kLose && received != sent) std::abort();
    return 0;
}
