#include "tidemill/io/network/internal/multicast.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {
namespace {

unsigned index_of(const std::string& interface) {
    if (interface.empty()) return 0;
    const unsigned index = if_nametoindex(interface.c_str());
    if (index == 0) throw IoError(fmt::format("there is no network interface '{}'", interface));
    return index;
}

template <class Value>
void set(int socket, int level, int option, const Value& value, const char* what) {
    if (::setsockopt(socket, level, option, &value, sizeof value) != 0)
        throw IoError(fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

}  // namespace

bool is_group(const sockaddr& address) {
    if (address.sa_family == AF_INET6)
        return IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
    return IN_MULTICAST(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
}

void join_group(int socket, const sockaddr& group, const std::string& interface) {
    const bool is_ipv6 = group.sa_family == AF_INET6;
    group_req request{};
    request.gr_interface = index_of(interface);
    std::memcpy(&request.gr_group, &group, is_ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1, "share a port with others of a group");
    set(socket, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, MCAST_JOIN_GROUP, request, "join a group");
    // Only what comes through the interface that was named.
    if (!is_ipv6) set(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0, "leave other groups out");
}

void send_through(int socket, const sockaddr& group, const std::string& interface) {
    const auto index = static_cast<int>(index_of(interface));
    if (index == 0) return;
    if (group.sa_family == AF_INET6) {
        set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, index, "send to a group");
    } else {
        ip_mreqn request{};
        request.imr_ifindex = index;
        set(socket, IPPROTO_IP, IP_MULTICAST_IF, request, "send to a group");
    }
}

void send_so_far(int socket, const sockaddr& group, int ttl) {
    const bool is_ipv6 = group.sa_family == AF_INET6;
    set(socket, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, ttl,
        "send to a group");
}

}  // namespace tidemill::io::internal
