#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill::io {

/// An address of either version; that of version 4 has its bytes in front.
struct IpAddress {
    int version = 4;
    std::array<std::uint8_t, 16> bytes{};

    std::size_t bits() const { return version == 4 ? 32 : 128; }
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// Addresses that begin alike.
struct IpPrefix {
    IpAddress address{};
    std::size_t bits = 0;

    bool holds(const IpAddress& other) const;
};

/// Reads 10.1.0.0/16, 2001:db8::/32 or a single address; nothing when it is none.
std::optional<IpPrefix> parse_ip_prefix(std::string_view text);

/// Fields of an IP packet's header, as far as is needed to let it pass.
struct IpHeader {
    IpAddress from{};
    IpAddress to{};
    std::size_t bytes = 0;   ///< of the packet, which may have stuffing behind it
    bool is_routed = false;  ///< it says itself where to go on to, or has options
};

/// Reads the header of a packet that begins there; nothing when it is none, or is cut off.
std::optional<IpHeader> parse_ip(std::span<const std::uint8_t> packet);

/// Addresses that no packet from outside may have in front of a host: its own machine, its own network,
/// nobody.
bool is_local_only(const IpAddress& address);

/// Whether a prefix holds no other addresses than those.
bool is_local_only(const IpPrefix& addresses);

/// Filter of packets to a host, by where they come from and go to.
class IpFilter {
  public:
    explicit IpFilter(std::vector<IpPrefix> allowed) : allowed_(std::move(allowed)) {}

    /// Addresses of the host itself, which it may change.
    void set_own(std::vector<IpAddress> own) { own_ = std::move(own); }

    bool passes(const IpHeader& header) const;

  private:
    bool allows(const IpAddress& address) const;

    std::vector<IpPrefix> allowed_;
    std::vector<IpAddress> own_{};
};

}  // namespace tidemill::io
