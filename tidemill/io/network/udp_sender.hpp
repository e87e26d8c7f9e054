#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tidemill/io/network/network_address.hpp"

struct sockaddr;

namespace tidemill::io {

/// Whether the text names a place for datagrams at all.
bool is_udp_url(const std::string& text);

/// Reads "udp://host:port", where a group is sent to with "?interface=eth0&ttl=4" behind it; throws IoError
/// saying what is expected.
NetworkAddress parse_udp_url(const std::string& text);

/// Takes what such settings say, those that are there, into the address. Throws IoError, which names `text`.
void take_group_settings(const std::string& text, NetworkEndpoint& place);

/// Reads the same for another scheme of datagrams.
NetworkAddress parse_datagram_url(std::string_view scheme, const std::string& text);

/// Behaviour where the network takes no more for now.
enum class WhenFull : std::uint8_t { wait, lose };

/// Sends datagrams to one place. Nobody may listen there, or stop listening: that is counted, no error.
class UdpSender {
  public:
    /// Throws IoError when the host is not known.
    explicit UdpSender(const NetworkAddress& to, WhenFull when_full = WhenFull::wait);
    UdpSender(UdpSender&& other) noexcept;
    UdpSender& operator=(UdpSender&&) = delete;
    ~UdpSender();

    /// Throws IoError when the network fails for another reason than a peer that is not there.
    void send(std::span<const std::uint8_t> datagram);

    std::uint64_t sent() const { return sent_; }
    /// Those that came to nobody, as the network answers.
    std::uint64_t refused() const { return refused_; }
    /// Bytes lost where the network took no more.
    std::uint64_t bytes_lost() const { return bytes_lost_; }

  private:
    void set_up_group(const NetworkAddress& to, const sockaddr& address) const;

    int socket_ = -1;
    int flags_;
    std::string name_;
    std::uint64_t sent_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t bytes_lost_ = 0;
};

}  // namespace tidemill::io
