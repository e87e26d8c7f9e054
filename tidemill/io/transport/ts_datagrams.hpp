#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// Counts of datagrams received, and of those that were not used.
struct DatagramCounts {
    std::uint64_t bytes_left_out = 0;  ///< of datagrams without packets, and of packets without sync byte
    std::uint64_t datagrams_left_out = 0;
    std::uint64_t rtp_missing = 0;  ///< RTP packets that did not come in time, as their numbers say
    std::uint64_t rtp_late = 0;     ///< that came twice, or behind later ones, and were left out
};

/// Takes packets out of datagrams, which hold whole ones, or behind the header of RTP (RFC 3550). Those of a
/// transport stream may have 192 or 204 bytes, as TsAligner says.
class TsDatagrams {
  public:
    /// A length of 1 means bytes of a continuous stream, of which all are taken as they are.
    explicit TsDatagrams(std::size_t packet_bytes = kTsPacketBytes, std::uint8_t sync = kTsSyncByte)
        : packet_bytes_(packet_bytes), sync_(sync) {}

    /// Appends what a datagram holds; false where that is no packets.
    bool push(std::span<const std::uint8_t> datagram, std::vector<std::uint8_t>& packets);

    const DatagramCounts& counts() const { return counts_; }

  private:
    /// How packets lie in a piece.
    struct Layout {
        std::size_t distance;
        std::size_t offset;  ///< of each sync byte
    };

    std::optional<Layout> layout_of(std::span<const std::uint8_t> piece) const;
    std::size_t sync_bytes(std::span<const std::uint8_t> piece, const Layout& layout) const;
    void take(std::span<const std::uint8_t> piece, const Layout& layout, std::vector<std::uint8_t>& packets);
    bool comes_in_order(std::span<const std::uint8_t> datagram);

    std::size_t packet_bytes_;
    std::uint8_t sync_;
    std::optional<std::uint16_t> next_number_{};  // of RTP
    DatagramCounts counts_{};
};

}  // namespace tidemill::io
