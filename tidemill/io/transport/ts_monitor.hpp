#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/io/transport/ts_section.hpp"

namespace tidemill::io {

/// The programme clock reference of a packet in ticks of 27 MHz, where it has one (ISO/IEC 13818-1, 2.4.3.5).
std::optional<std::uint64_t> pcr_of(std::span<const std::uint8_t> packet);

/// Looks at the packets of a transport stream as they pass: which programmes there are, and whether packets
/// are missing. One thread looks; the numbers may be read by any.
class TsMonitor {
  public:
    static constexpr std::size_t kMostProgrammes = 32;

    /// Whole packets.
    void look(std::span<const std::uint8_t> packets);
    /// Continuity goes on behind these whole packets of an earlier run, which do not count.
    void go_on_behind(std::span<const std::uint8_t> packets);

    std::uint64_t packets() const { return packets_.load(std::memory_order_relaxed); }
    std::uint64_t null_packets() const { return null_packets_.load(std::memory_order_relaxed); }
    /// Packets marked as damaged (transport_error_indicator).
    std::uint64_t marked_packets() const { return marked_packets_.load(std::memory_order_relaxed); }
    /// Times that the count of a PID did not go on where it had to.
    std::uint64_t continuity_errors() const { return continuity_errors_.load(std::memory_order_relaxed); }
    /// Programme numbers of the last programme association table; at most kMostProgrammes.
    std::vector<int> programmes() const;

  private:
    void look_at(std::span<const std::uint8_t> packet);
    void check_continuity(std::span<const std::uint8_t> packet, std::uint16_t pid);
    void read_table(std::span<const std::uint8_t> table);

    struct PidState {
        std::int8_t last_count = -1;
        bool repeated = false;
        std::array<std::uint8_t, 16>
            payload_end{};  // by which a packet sent twice is distinguished from another
    };
    std::array<PidState, 8192> pids_{};
    SectionCollector sections_{};  // of the programme association table
    std::array<std::atomic<int>, kMostProgrammes> programmes_{};
    std::atomic<std::size_t> programme_count_{0};
    std::atomic<std::uint64_t> packets_{0};
    std::atomic<std::uint64_t> null_packets_{0};
    std::atomic<std::uint64_t> marked_packets_{0};
    std::atomic<std::uint64_t> continuity_errors_{0};
};

}  // namespace tidemill::io
