#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// Counts of ULE packets, which are not read further.
struct UleCounts {
    std::uint64_t packets = 0;   ///< with a right CRC
    std::uint64_t ethernet = 0;  ///< of these, with a frame of Ethernet in them
};

/// Counts packets of unidirectional lightweight encapsulation (ULE, RFC 4326) in a transport stream, on all
/// PIDs but as long as their CRCs are right. Holds at most 32 kB for each of at most 16 PIDs.
class UleCounter {
  public:
    static constexpr std::size_t kMostPids = 16;

    /// Whole packets of the transport stream.
    void push(std::span<const std::uint8_t> packets);

    const UleCounts& counts() const { return counts_; }

  private:
    using Bytes = std::span<const std::uint8_t>;

    void take(Bytes packet);
    void begin(std::uint16_t pid, Bytes payload);
    bool read(std::vector<std::uint8_t>& waiting);

    std::map<std::uint16_t, std::vector<std::uint8_t>> waiting_{};  // from the beginning of a packet on
    UleCounts counts_{};
};

}  // namespace tidemill::io
