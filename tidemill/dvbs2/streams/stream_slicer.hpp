#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/dvbs2/streams/user_packet.hpp"

namespace tidemill::dvbs2 {

/// Slices an input stream into BBFRAMEs (EN 302 307-1, 5.1.2 to 5.1.5). Of packets each sync byte becomes the
/// CRC-8 of the packet before; packets and continuous streams run on from frame to frame. With NPD null
/// packets are left out and counted behind the next packet, with ISSYI each packet carries its time.
class StreamSlicer {
  public:
    /// The MATYPE fields, UPL (whole bytes; 0 for a continuous stream) and SYNC of `header` go into every
    /// frame; its other lengths are set by the slicer. Packets come `packet_period_symbols` apart, which ISSY
    /// shows. Throws Dvbs2Error for packets that cannot be.
    explicit StreamSlicer(const BbHeader& header = {}, double packet_period_symbols = 0);

    /// Takes whole packets, or any bytes of a continuous stream; throws Dvbs2Error when a packet
    /// does not have its length or its sync byte.
    void feed(std::span<const std::uint8_t> data);

    /// Fills a packed BBFRAME of K_bch bits, which may differ from frame to frame; false and nothing done
    /// when the data taken so far do not fill it.
    bool next(std::span<std::uint8_t> bbframe);

    /// Fills a BBFRAME with all that is left and pads it with zeros; false when nothing is left. The last
    /// null packet deleted is sent after all: there is no next packet to count it.
    bool finish(std::span<std::uint8_t> bbframe);

    /// Bytes taken that have not left.
    std::size_t waiting_bytes() const { return stream_.size() - taken_; }

    /// Null packets that were not sent.
    std::uint64_t null_packets_deleted() const { return null_packets_deleted_; }

    const BbHeader& header() const { return header_; }

  private:
    void feed_packet(std::span<const std::uint8_t> packet);
    void append(std::span<const std::uint8_t> packet, std::uint64_t number);
    void append_issy(std::uint64_t number);
    void append_last_deleted();
    void fill(std::span<std::uint8_t> bbframe, std::size_t data_bytes);
    std::uint16_t sync_distance(std::size_t data_bytes) const;

    BbHeader header_;
    UserPacketLayout layout_;  // no bytes: continuous
    double packet_period_symbols_;
    std::vector<std::uint8_t> stream_;  // user packets with CRC-8 in place of the sync byte
    std::size_t taken_ = 0;             // bytes of stream_ that have left
    std::uint8_t crc_ = 0;
    std::size_t bytes_to_start_ = 0;  // from the next byte to leave to the next start of a packet
    std::uint64_t packets_fed_ = 0;
    std::uint64_t null_packets_deleted_ = 0;
    std::uint8_t dnp_ = 0;               // null packets deleted since the last one appended
    std::vector<std::uint8_t> deleted_;  // the last of them
};

}  // namespace tidemill::dvbs2
