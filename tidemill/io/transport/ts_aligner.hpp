#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// Bytes and places of a packet stream that were not used.
struct AlignerCounts {
    std::uint64_t bytes_left_out = 0;
    std::uint64_t losses = 0;    ///< places where no packet began and one had to
    std::uint64_t first_at = 0;  ///< byte of the stream at which the first of them lies
};

/// Finds the packets in a stream of bytes: by three sync bytes at equal distances, and from then on by one
/// each, until one is missing. Packets of a transport stream may have a time stamp of four bytes in front
/// (192 bytes from one to the next) or 16 bytes of a Reed-Solomon code behind (204), which are taken off. A
/// packet behind which none begins, nor one behind that, may have lost bytes or got some, and is left out.
class TsAligner {
  public:
    /// Packets of another length or with another sync byte are those of a generic stream.
    explicit TsAligner(std::size_t packet_bytes = kTsPacketBytes, std::uint8_t sync = kTsSyncByte);

    /// Appends the packets that are known to be whole.
    void push(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& packets);

    /// The stream ends: appends what is left of it. What is pushed behind that is another stream.
    void finish(std::vector<std::uint8_t>& packets);

    /// From one packet to the next in the stream; 0: that is not known yet.
    std::size_t distance() const { return last_distance_; }
    const AlignerCounts& counts() const { return counts_; }

  private:
    bool search();
    bool step(std::vector<std::uint8_t>& packets);
    std::size_t distance_at(std::size_t at) const;
    bool begins_at(std::size_t at, std::size_t distance) const;
    bool has_sync(std::size_t at) const { return bytes_[at] == sync_; }
    void lose(std::size_t at);
    void skip(std::size_t count);
    void emit(std::size_t at, std::vector<std::uint8_t>& packets) const;

    std::size_t packet_bytes_;
    std::uint8_t sync_;
    std::vector<std::size_t> distances_;
    std::vector<std::uint8_t> bytes_{};  // that came and are not done with
    std::size_t at_ = 0;                 // where the next packet begins in them
    std::uint64_t base_ = 0;             // of the stream, where they begin
    std::size_t distance_ = 0;           // 0: it is searched
    std::size_t last_distance_ = 0;
    bool at_end_ = false;
    AlignerCounts counts_{};
};

}  // namespace tidemill::io
