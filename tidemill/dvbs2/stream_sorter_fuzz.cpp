#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/dvbs2/stream_sorter.hpp"
#include "tidemill/io/ts_packet.hpp"

namespace {

using namespace tidemill::dvbs2;

constexpr std::size_t kSortFrameBytes = 64;

// The checksum is put right unless the last byte says otherwise: random ones would stop every frame here.
void repair(std::vector<std::uint8_t>& frame) {
    if (frame.back() % 8 == 0) return;
    BbHeader header = parse_bb_header(frame).header;
    header.data_bits = static_cast<std::uint16_t>(header.data_bits % (8 * kSortFrameBytes));
    if (header.packet_bits > 2048) {
        // As long as packets with its ISSY and DNP are.
        const std::size_t issy_bytes = header.input_sync_indicator ? 2U + header.input_stream % 2U : 0U;
        const UserPacketLayout layout{tidemill::io::kTsPacketBytes, issy_bytes, header.null_packet_deletion};
        header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
    }
    write_bb_header(header, std::span(frame).first<kBbHeaderBytes>());
}

}  // namespace

/// Whatever BBFRAMEs say, only whole transport stream packets come out, and every frame is accounted for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::uint64_t bytes = 0;
    const auto take = [&](std::span<const std::uint8_t> packets, std::uint8_t) {
        if (packets.empty() || packets.size() % tidemill::io::kTsPacketBytes != 0) std::abort();
        bytes += packets.size();
    };
    StreamOutputs outputs{take, [](std::span<const std::uint8_t>, std::uint8_t) {}};
    StreamSorter sorter({.all = true, .damaged = DamagedPacket::mark}, outputs);
    std::uint64_t frames = 0;
    for (std::span rest(data, size); rest.size() > kBbHeaderBytes; ++frames) {
        std::vector<std::uint8_t> frame(kSortFrameBytes);
        const auto some = rest.first(std::min(rest.size(), frame.size()));
        std::copy(some.begin(), some.end(), frame.begin());
        rest = rest.subspan(some.size());
        repair(frame);
        frame.back() == 0xff ? sorter.lose() : sorter.push(frame);
    }
    sorter.finish();
    const PacketCounts counts = sorter.counts();
    if (counts.frames + counts.frames_lost != frames) std::abort();
    if (counts.packets * tidemill::io::kTsPacketBytes < bytes || counts.null_packets > counts.packets)
        std::abort();
    return 0;
}
