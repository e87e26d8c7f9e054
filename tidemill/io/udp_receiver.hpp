#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/io/udp_sender.hpp"

namespace tidemill::io {

/// Takes datagrams that come to an address of this machine, as they come.
class UdpReceiver {
  public:
    /// Throws IoError when the address cannot be listened at. Port 0 lets the system choose one.
    explicit UdpReceiver(const NetworkAddress& at);
    UdpReceiver(const UdpReceiver&) = delete;
    UdpReceiver& operator=(const UdpReceiver&) = delete;
    ~UdpReceiver();

    /// The next datagram that has come; empty when there is none now. Valid until the next call.
    std::span<const std::uint8_t> next();

    std::uint16_t port() const;

  private:
    int socket_ = -1;
    std::vector<std::uint8_t> datagram_;
};

}  // namespace tidemill::io
