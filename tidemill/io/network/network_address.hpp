#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemill::io {

/// Where on a network: a name or address, and a port.
struct NetworkAddress {
    std::string host;
    std::uint16_t port = 0;
    std::string interface {};  ///< through which groups are joined or sent to; empty: the system chooses
    std::optional<int> ttl{};  ///< hops that datagrams to a group may take; none: the system's one
};

/// "SCHEME://", then the address, in brackets where it has colons, and the port.
std::string network_url(std::string_view scheme, const NetworkAddress& address);

/// Whether a text begins with "SCHEME://".
bool is_network_url(std::string_view scheme, std::string_view text);

/// Reads "SCHEME://host:port" or "SCHEME://[address]:port"; throws IoError saying what is expected.
NetworkAddress parse_network_url(std::string_view scheme, const std::string& text);

/// The same with a port by default.
NetworkAddress parse_network_url(std::string_view scheme, const std::string& text, std::uint16_t usual_port);

/// An address with settings behind it.
struct NetworkEndpoint {
    NetworkAddress address;
    std::map<std::string, std::string> settings;
};

/// Reads "SCHEME://host:port?NAME=VALUE&NAME=VALUE", with settings of these names or none; throws IoError
/// saying what is expected.
NetworkEndpoint parse_network_place(std::string_view scheme, const std::string& text,
                                    std::span<const std::string_view> names);

}  // namespace tidemill::io
