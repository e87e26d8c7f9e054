#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_section.hpp"

namespace tidemill::io {

/// Counts of sections with IP packets, taken and not.
struct MpeCounts {
    std::uint64_t packets = 0;           ///< of IP, given out
    std::uint64_t sections_bad_crc = 0;  ///< or with a checksum instead, or too short to be one
    std::uint64_t sections_cut_off = 0;  ///< packets of the transport stream were missing or damaged
    std::uint64_t scrambled = 0;
    std::uint64_t other_protocols = 0;      ///< no IP behind LLC/SNAP
    std::uint64_t parts_without_start = 0;  ///< of a packet in several sections, whose others are missing
    std::uint64_t not_ip = 0;               ///< what came out is no IP packet, or is cut off
    std::uint64_t pids_beyond = 0;          ///< that carry sections, but more than are followed
};

/// Takes IP packets out of the sections of multiprotocol encapsulation in a transport stream (EN 301 192, 7),
/// on one PID or on all that carry such sections. Holds at most some 70 kB for each of at most 16 PIDs.
class MpeReceiver {
  public:
    static constexpr std::size_t kMostPids = 16;

    using Give = std::function<void(std::span<const std::uint8_t> packet)>;

    /// `pid`: none for all.
    MpeReceiver(std::optional<std::uint16_t> pid, Give give) : pid_(pid), give_(std::move(give)) {}

    /// Whole packets of the transport stream.
    void push(std::span<const std::uint8_t> packets);

    const MpeCounts& counts() const { return counts_; }

  private:
    struct Pid {
        SectionCollector sections{};
        std::vector<std::uint8_t> datagram{};  // of several sections
        std::uint8_t next_part = 0;
    };

    void take(std::span<const std::uint8_t> packet);
    Pid* followed(std::span<const std::uint8_t> packet, std::span<const std::uint8_t> payload);
    void read(Pid& state, std::span<const std::uint8_t> section);
    void join(Pid& state, std::span<const std::uint8_t> section, std::span<const std::uint8_t> payload);
    void give_out(std::span<const std::uint8_t> datagram);

    std::optional<std::uint16_t> pid_;
    Give give_;
    std::map<std::uint16_t, Pid> pids_{};
    MpeCounts counts_{};
};

}  // namespace tidemill::io
