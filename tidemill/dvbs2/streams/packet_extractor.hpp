#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/dvbs2/streams/stream_outputs.hpp"
#include "tidemill/dvbs2/streams/user_packet.hpp"

namespace tidemill::dvbs2 {

struct PacketExtractorOptions {
    DamagedPacket damaged = DamagedPacket::drop;
    std::optional<std::uint8_t> input_stream;  // of several; the first seen unless given
};

/// Joins the packets of BBFRAMEs that come in order, those of a transport stream or of a generic packetised
/// one, and never gives out a packet joined from parts that do not belong together. After a loss it goes on
/// with the first packet that starts in the next frame (SYNCD). ISSY fields are taken off, deleted null
/// packets put back where they were; how many stood before a damaged packet is not known, and none is put
/// there.
class PacketExtractor {
  public:
    explicit PacketExtractor(const PacketExtractorOptions& options = {});

    /// Takes an error-free packed BBFRAME, descrambled, and appends the packets that it completes. A fault
    /// other than `none` says why its data were not used.
    BbFault push(std::span<const std::uint8_t> bbframe, std::vector<std::uint8_t>& packets);

    /// Says that one or more frames are missing here; appends the packet that waited only for its CRC-8.
    void lose(std::vector<std::uint8_t>& packets);

    /// Ends the stream: appends the packet that waited only for its CRC-8; one that was begun is cut off.
    void finish(std::vector<std::uint8_t>& packets);

    const PacketCounts& counts() const { return counts_; }

    /// The symbol counter (ISCR, 22 bits) of the last packet given out since this was asked last; nothing
    /// where none had one.
    std::optional<std::uint32_t> take_input_clock() { return std::exchange(input_clock_, std::nullopt); }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("input_stream", options_.input_stream)("counts", counts_)("in_step", in_step_);
        archive("is_transport", is_transport_)("sync", sync_)("layout", layout_)("packet", packet_);
        archive("filled_bits", filled_bits_)("waiting", waiting_)("has_waiting", has_waiting_);
    }

  private:
    using Packet = std::vector<std::uint8_t>;

    BbFault classify(const ParsedBbHeader& parsed);
    void count(BbFault fault);
    void take_format(const BbHeader& header, std::vector<std::uint8_t>& packets);
    std::size_t align(const BbHeader& header, std::vector<std::uint8_t>& packets);
    void read(std::span<const std::uint8_t> data, std::size_t begin_bit, std::size_t end_bit,
              std::vector<std::uint8_t>& packets);
    void verify_waiting(std::uint8_t crc, std::vector<std::uint8_t>& packets);
    void break_off(std::vector<std::uint8_t>& packets);
    void give_out_whole(std::vector<std::uint8_t>& packets);
    void give_out(std::vector<std::uint8_t>& packets);

    PacketExtractorOptions options_;
    PacketCounts counts_;
    bool in_step_ = false;  // the next bit expected is known
    bool is_transport_ = true;
    std::uint8_t sync_ = 0;
    UserPacketLayout layout_;
    Packet packet_;  // being filled, with the CRC-8 of the one before in place of the sync byte
    std::size_t filled_bits_ = 0;
    Packet waiting_;  // whole, its own CRC-8 not yet seen
    bool has_waiting_ = false;
    std::optional<std::uint32_t> input_clock_{};
};

}  // namespace tidemill::dvbs2
