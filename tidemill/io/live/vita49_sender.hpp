#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/io/live/vita49_packet.hpp"
#include "tidemill/io/network/udp_sender.hpp"

namespace tidemill::io {

/// How samples are sent as VITA-49 packets.
struct VitaSending {
    dsp::SampleFormat format = dsp::SampleFormat::ci16_be;  ///< that, or ci8
    double sample_rate_hz = 0;
    std::optional<double> frequency_hz{};
    bool is_paced = true;  ///< as a radio would send them; else as fast as they come
};

/// Sends samples as VITA-49 packets in DIFI's form, over UDP to one place or to a group: data, and ten times
/// a second a context packet, by which late listeners learn the format. Time stamps begin with the computer's
/// clock and go on with the samples.
class VitaSender {
  public:
    /// `place` is "vita49://host:port", with stream= and interface=. Throws IoError, also for a rate that
    /// cannot be.
    VitaSender(const std::string& place, const VitaSending& sending);

    /// Sends whole samples as their time comes, and keeps what fills no packet. Throws IoError.
    void write(std::span<const std::byte> samples);

    /// Sends what is left; a word that is not full is filled with zeros.
    void close();

    /// From any thread: nothing is waited for any more, and what comes is not sent.
    void end() noexcept;

  private:
    using Clock = std::chrono::steady_clock;

    void send_packet(std::span<const std::byte> payload);
    void send_context();
    void send(const std::vector<std::byte>& packet);
    bool wait_for(double seconds);
    VitaTime now() const;

    VitaSending sending_;
    std::uint32_t stream_;
    UdpSender socket_;
    std::vector<std::byte> waiting_;  // less than a packet
    std::uint64_t samples_ = 0;       // sent
    std::uint64_t next_context_ = 0;  // at this sample
    std::uint8_t data_count_ = 0, context_count_ = 0;
    std::optional<Clock::time_point> begun_;
    std::chrono::system_clock::duration begun_utc_{};
    std::mutex mutex_;
    std::condition_variable ends_;
    bool ended_ = false;
};

}  // namespace tidemill::io
