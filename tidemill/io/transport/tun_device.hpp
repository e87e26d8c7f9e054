#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidemill/io/transport/ip_packet.hpp"

namespace tidemill::io {

/// Counts of packets for a network interface.
struct TunCounts {
    std::uint64_t passed = 0;
    std::uint64_t filtered = 0;   ///< from or to where none may
    std::uint64_t not_taken = 0;  ///< the interface is down, or its queue is full
};

/// An interface of this machine (Linux: TUN) to which packets are given, and from which none are taken. No
/// address, no route is set, nothing is switched on: that is left to the owner of the machine. Only packets
/// that the filter lets pass go there, and the host's own addresses, asked for once a second, are left out.
class TunDevice {
  public:
    /// Opens it, or makes it where one may. Throws IoError, saying what is needed.
    TunDevice(const std::string& name, IpFilter filter);
    TunDevice(TunDevice&& other) noexcept;
    TunDevice& operator=(TunDevice&&) = delete;
    ~TunDevice();

    /// A whole IP packet. Throws IoError when the interface has gone.
    void write(std::span<const std::uint8_t> packet);

    const TunCounts& counts() const { return counts_; }
    const std::string& name() const { return name_; }

  private:
    void look_at_own(std::int64_t now_s);

    std::string name_;
    int device_ = -1;
    IpFilter filter_;
    std::int64_t looked_s_ = -1;
    TunCounts counts_{};
};

/// Throws IoError where a name is none that an interface can have.
void check_interface_name(const std::string& name);

/// The addresses that the host's interfaces have. Throws IoError where the system does not report it: then
/// nothing is known of what must not pass.
std::vector<IpAddress> own_addresses();

}  // namespace tidemill::io
