#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {

/// The packet identifier of a transport stream packet.
inline std::uint16_t pid_of(std::span<const std::uint8_t> packet) {
    return static_cast<std::uint16_t>((packet[1] & 0x1f) << 8 | packet[2]);
}

/// Whether a packet holds anything but an adaptation field.
inline bool has_payload(std::span<const std::uint8_t> packet) {
    return (packet[3] & 0x10) != 0;
}

/// Whether a packet was damaged on its way, as it says itself or by its first byte.
inline bool is_damaged(std::span<const std::uint8_t> packet) {
    return packet[0] != kTsSyncByte || (packet[1] & 0x80) != 0;
}

/// Payload behind a packet's adaptation field; empty where there is nothing.
std::span<const std::uint8_t> payload_of(std::span<const std::uint8_t> packet);

/// Whether a section begins in a packet; its payload's first byte gives the place.
inline bool starts_section(std::span<const std::uint8_t> packet) {
    return (packet[1] & 0x40) != 0;
}

/// Collects the sections of one PID (ISO/IEC 13818-1, 2.4.4) from its packets. A section that ends before
/// another one begins in the same packet is whole; one of which a packet is missing is dropped. Between two
/// packets all whole sections are to be taken, so that it holds little more than the longest one.
class SectionCollector {
  public:
    /// Takes the PID's next packet; one that was sent twice counts once. Returns how many sections were cut
    /// off before it.
    std::size_t add(std::span<const std::uint8_t> packet);

    /// The next packet is missing or damaged: what has begun will not be whole. Returns 1 where something
    /// had, else 0.
    std::size_t cut_off();

    /// The next whole section, valid until the next call of any; nothing when there is none.
    std::optional<std::span<const std::uint8_t>> next_whole();
    /// The same of sections of tables whose CRC is right.
    std::optional<std::span<const std::uint8_t>> next();

  private:
    bool was_there(int count, std::span<const std::uint8_t> payload) const;
    std::size_t section_at(std::size_t at) const;
    std::size_t whole_bytes() const;
    bool has_begun() const;

    std::vector<std::uint8_t> bytes_{};  // from the beginning of a section on
    std::size_t taken_ = 0;
    int last_count_ = -1;
    std::vector<std::uint8_t> last_payload_{};
};

}  // namespace tidemill::io
