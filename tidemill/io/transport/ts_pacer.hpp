#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// Seven packets: as many as fit into an Ethernet frame.
inline constexpr std::size_t kDatagramBytes = 7 * kTsPacketBytes;

/// Packets to be sent together.
struct TimedDatagram {
    std::vector<std::uint8_t> bytes;  ///< at most kDatagramBytes
    double due_s = 0;                 ///< when the first of its packets is to leave
};

/// Puts the packets of a transport stream into datagrams of seven and says when each has to leave: when its
/// first packet came, by the clock of the signal, or by a given rate. What the packets say of their own clock
/// counts for nothing: it may be missing, stand still or jump. No packet waits for others for more than
/// kMostTogether_s; where they come more slowly, or their time jumps, datagrams hold fewer.
class TsPacer {
  public:
    static constexpr double kMostTogether_s = 0.02;

    /// Bits per second, counted from 0 s on; empty: by the signal. Throws IoError unless above 0.
    explicit TsPacer(std::optional<double> rate_bps = {});

    /// Takes whole packets that came evenly from `from_s` on for `lasts_s`, and appends the datagrams that
    /// are complete now.
    void push(std::span<const std::uint8_t> packets, double from_s, double lasts_s,
              std::vector<TimedDatagram>& out);

    /// Appends what is left.
    void finish(std::vector<TimedDatagram>& out);

  private:
    void put(std::span<const std::uint8_t> packet, double at_s, std::vector<TimedDatagram>& out);

    std::optional<double> rate_bps_;
    std::uint64_t bytes_ = 0;  // that came
    TimedDatagram waiting_{};  // for more packets
};

}  // namespace tidemill::io
