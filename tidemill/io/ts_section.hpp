#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/ts_packet.hpp"

namespace tidemill::io {

/// The packet identifier of a transport stream packet.
inline std::uint16_t pid_of(std::span<const std::uint8_t> packet) {
    return static_cast<std::uint16_t>((packet[1] & 0x1f) << 8 | packet[2]);
}

/// Whether a packet holds anything but an adaptation field.
inline bool has_payload(std::span<const std::uint8_t> packet) {
    return (packet[3] & 0x10) != 0;
}

/// Collects the sections of one PID (ISO/IEC 13818-1, 2.4.4), of which tables are made, from its packets.
class SectionCollector {
  public:
    /// Takes the PID's next packet.
    void add(std::span<const std::uint8_t> packet);

    /// The next whole section whose CRC is right, valid until the next call of either; nothing when there is
    /// none.
    std::optional<std::span<const std::uint8_t>> next();

  private:
    std::vector<std::uint8_t> bytes_{};  // from the beginning of a section on
    std::size_t taken_ = 0;
};

}  // namespace tidemill::io
