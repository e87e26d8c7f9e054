#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/network/udp_sender.hpp"

namespace tidemill::io {

/// Takes datagrams that come to an address of this machine, or to a group that it joins, as they come.
class UdpReceiver {
  public:
    /// Throws IoError when the address cannot be listened at. Port 0 lets the system choose one.
    explicit UdpReceiver(const NetworkAddress& at);
    UdpReceiver(const UdpReceiver&) = delete;
    UdpReceiver& operator=(const UdpReceiver&) = delete;
    ~UdpReceiver();

    /// The next datagram that has come; empty when there is none now. Valid until the next call.
    std::span<const std::uint8_t> next();

    /// Waits until one has come, at most so long; without a time, for ever. False: none has, or end() was
    /// called.
    bool wait(std::optional<std::chrono::milliseconds> at_most = {});

    /// From any thread: ends a wait, and any later one.
    void end() noexcept;
    bool ended() const { return has_ended_; }

    std::uint16_t port() const;

  private:
    void open(const NetworkAddress& at);

    int socket_ = -1;
    int ended_ = -1;  // an eventfd: readable for ever once end() was called
    std::atomic<bool> has_ended_ = false;
    std::vector<std::uint8_t> datagram_;
};

}  // namespace tidemill::io
