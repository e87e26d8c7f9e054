#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/ts_packet.hpp"

namespace tidemill::io {

/// Seven packets: what fits into an Ethernet frame.
inline constexpr std::size_t kDatagramBytes = 7 * kTsPacketBytes;

/// Packets to be sent together.
struct TimedDatagram {
    std::vector<std::uint8_t> bytes;  ///< at most kDatagramBytes
    double due_s = 0;                 ///< after the first
};

/// Says when the packets of a transport stream have to leave, so that a player's buffer neither runs full nor
/// empty: by a given rate, or by the programme clock of the first PID that has one. Between two clock
/// references packets leave evenly; before the first one, and where references break off, at once.
class TsPacer {
  public:
    /// Bits per second; empty: by the programme clock. Throws IoError unless above 0.
    explicit TsPacer(std::optional<double> rate_bps = {});

    /// Takes whole packets and appends the datagrams whose time is known now; times never go back.
    void push(std::span<const std::uint8_t> packets, std::vector<TimedDatagram>& out);

    /// Appends what is left.
    void finish(std::vector<TimedDatagram>& out);

  private:
    void meet_clock(std::uint64_t pcr, std::vector<TimedDatagram>& out);
    void emit(double begin_s, double end_s, std::vector<TimedDatagram>& out);

    std::optional<double> rate_bps_;
    std::vector<std::uint8_t> waiting_;  // packets since the last clock reference
    double now_s_ = 0;                   // when the last datagram was due
    std::optional<std::uint16_t> clock_pid_;
    std::optional<std::uint64_t> last_pcr_;
};

}  // namespace tidemill::io
