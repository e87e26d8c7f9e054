#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tidemill::io {

/// Host and port of "udp://host:port" or "udp://[address]:port".
struct UdpAddress {
    std::string host;
    std::uint16_t port = 0;
};

/// Whether the text names a place for datagrams at all.
bool is_udp_url(const std::string& text);

/// Reads the text; throws IoError saying what is expected.
UdpAddress parse_udp_url(const std::string& text);

/// Sends datagrams to one place. Nobody may listen there, or stop listening: that is counted, no error.
class UdpSender {
  public:
    /// Throws IoError when the host is not known.
    explicit UdpSender(const UdpAddress& to);
    UdpSender(UdpSender&& other) noexcept;
    UdpSender& operator=(UdpSender&&) = delete;
    ~UdpSender();

    /// Throws IoError when the network fails for another reason than a peer that is not there.
    void send(std::span<const std::uint8_t> datagram);

    std::uint64_t sent() const { return sent_; }
    std::uint64_t refused() const { return refused_; }

  private:
    int socket_ = -1;
    std::string name_;
    std::uint64_t sent_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace tidemill::io
