#include "tidemill/io/transport/ip_packet.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <arpa/inet.h>

namespace tidemill::io {
namespace {

constexpr std::size_t kIpv4Bytes = 20, kIpv6Bytes = 40;  // of the headers (RFC 791, RFC 8200)
constexpr std::uint8_t kRoutingHeader = 43;
constexpr std::uint8_t kHopByHop = 0;

std::size_t number16(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<std::size_t>(bytes[at]) << 8 | bytes[at + 1];
}

IpAddress address_at(std::span<const std::uint8_t> packet, std::size_t at, int version) {
    IpAddress address{.version = version};
    std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(at), address.bits() / 8, address.bytes.begin());
    return address;
}

std::optional<IpHeader> parse_ipv4(std::span<const std::uint8_t> packet) {
    if (packet.size() < kIpv4Bytes) return std::nullopt;
    const std::size_t header = 4 * static_cast<std::size_t>(packet[0] & 0x0f);
    const std::size_t bytes = number16(packet, 2);
    if (header < kIpv4Bytes || bytes < header || bytes > packet.size()) return std::nullopt;
    return IpHeader{address_at(packet, 12, 4), address_at(packet, 16, 4), bytes, header > kIpv4Bytes};
}

std::optional<IpHeader> parse_ipv6(std::span<const std::uint8_t> packet) {
    if (packet.size() < kIpv6Bytes) return std::nullopt;
    const std::size_t bytes = kIpv6Bytes + number16(packet, 4);
    if (bytes > packet.size()) return std::nullopt;
    // An option behind a header for every hop could be one for the route, too.
    const bool is_routed = packet[6] == kRoutingHeader || packet[6] == kHopByHop;
    return IpHeader{address_at(packet, 8, 6), address_at(packet, 24, 6), bytes, is_routed};
}

IpPrefix prefix(std::string_view text) {
    return parse_ip_prefix(text).value();
}

bool is_multicast(const IpAddress& address) {
    return address.version == 4 ? (address.bytes[0] & 0xf0) == 0xe0 : address.bytes[0] == 0xff;
}

}  // namespace

bool IpPrefix::holds(const IpAddress& other) const {
    if (other.version != address.version) return false;
    for (std::size_t bit = 0; bit < bits; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
        if (((address.bytes[bit / 8] ^ other.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

std::optional<IpPrefix> parse_ip_prefix(std::string_view text) {
    const auto slash = text.find('/');
    const std::string host(text.substr(0, slash));
    IpPrefix prefix{.address = {.version = host.find(':') == std::string::npos ? 4 : 6}};
    const int family = prefix.address.version == 4 ? AF_INET : AF_INET6;
    if (inet_pton(family, host.c_str(), prefix.address.bytes.data()) != 1) return std::nullopt;
    prefix.bits = prefix.address.bits();
    if (slash == std::string_view::npos) return prefix;
    const std::string_view bits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), prefix.bits);
    if (error != std::errc() || end != bits.data() + bits.size() || prefix.bits > prefix.address.bits())
        return std::nullopt;
    return prefix;
}

std::optional<IpHeader> parse_ip(std::span<const std::uint8_t> packet) {
    if (packet.empty()) return std::nullopt;
    if (packet[0] >> 4 == 4) return parse_ipv4(packet);
    if (packet[0] >> 4 == 6) return parse_ipv6(packet);
    return std::nullopt;
}

bool is_local_only(const IpAddress& address) {
    return is_local_only(IpPrefix{address, address.bits()});
}

bool is_local_only(const IpPrefix& addresses) {
    static const std::vector<IpPrefix> kLocal = {
        prefix("0.0.0.0/8"),         prefix("127.0.0.0/8"),        prefix("169.254.0.0/16"),
        prefix("224.0.0.0/24"),      prefix("255.255.255.255/32"), prefix("::/96"),
        prefix("::ffff:0.0.0.0/96"), prefix("fe80::/10"),          prefix("ff00::/16"),
        prefix("ff01::/16"),         prefix("ff02::/16"),          prefix("64:ff9b::/96")};
    return std::ranges::any_of(kLocal, [&](const IpPrefix& local) {
        return local.bits <= addresses.bits && local.holds(addresses.address);
    });
}

bool IpFilter::allows(const IpAddress& address) const {
    return !is_local_only(address) && std::ranges::find(own_, address) == own_.end() &&
           std::ranges::any_of(allowed_, [&](const IpPrefix& each) { return each.holds(address); });
}

bool IpFilter::passes(const IpHeader& header) const {
    return !header.is_routed && !is_multicast(header.from) && allows(header.from) && allows(header.to);
}

}  // namespace tidemill::io
