#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/dvbs2/streams/stream_sorter.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace {

using namespace tidemill::dvbs2;

constexpr std::size_t kSortFrameBytes = 256;

// Gives random frames likely headers, else every one of them would stop here.
class HeaderRepair {
  public:
    // By the last byte: the checksum stays wrong, the frame is one of its own, or it goes on with the one
    // before.
    void operator()(std::vector<std::uint8_t>& frame) {
        const int how = frame.back() % 8;
        if (how == 0) return;
        const BbHeader own = parse_bb_header(frame).header;
        if (how == 1 || !begun_) set_format(own);
        begun_ = true;
        header_.data_bits =
            static_cast<std::uint16_t>(own.data_bits % (8 * (kSortFrameBytes - kBbHeaderBytes)));
        header_.sync_distance = how == 2 ? own.sync_distance : next_start();
        if (header_.packet_bits > 0)
            in_packet_bits_ = (in_packet_bits_ + header_.data_bits) % header_.packet_bits;
        write_bb_header(header_, std::span(frame).first<kBbHeaderBytes>());
    }

  private:
    // Half of the formats as long as a packet with its ISSY and DNP is.
    void set_format(const BbHeader& own) {
        header_ = own;
        in_packet_bits_ = 0;
        if (own.packet_bits < 32768) return;
        const std::size_t issy_bytes = own.input_sync_indicator ? 2U + own.packet_bits % 2U : 0U;
        const UserPacketLayout layout{tidemill::io::kTsPacketBytes, issy_bytes, own.null_packet_deletion};
        header_.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
        header_.sync = tidemill::io::kTsSyncByte;
    }

    std::uint16_t next_start() const {
        if (header_.packet_bits == 0) return 0;
        const auto bits = static_cast<std::size_t>(header_.packet_bits);
        const std::size_t missing_bits = (bits - in_packet_bits_) % bits;
        return missing_bits < header_.data_bits ? static_cast<std::uint16_t>(missing_bits) : kNoPacketStarts;
    }

    BbHeader header_;
    std::size_t in_packet_bits_ = 0;
    bool begun_ = false;
};

}  // namespace

/// For any BBFRAMEs, only whole transport stream packets come out, and every frame is accounted for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::uint64_t bytes = 0;
    const auto take = [&](std::span<const std::uint8_t> packets, std::uint8_t) {
        if (packets.empty() || packets.size() % tidemill::io::kTsPacketBytes != 0) std::abort();
        bytes += packets.size();
    };
    StreamOutputs outputs{take, [](std::span<const std::uint8_t>, std::uint8_t) {}};
    StreamSorter sorter({.all = true, .damaged = DamagedPacket::mark}, outputs);
    HeaderRepair repair;
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
