#include "tidemill/io/network/udp_sender.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/network/internal/multicast.hpp"

namespace tidemill::io {
namespace {

// An error that comes when the peer of an earlier datagram was not there, or the way to it is down for now.
bool means_nobody_there(int error) {
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == ENOBUFS ||
           error == ENETDOWN || error == EHOSTDOWN;
}

}  // namespace

bool is_udp_url(const std::string& text) {
    return text.starts_with("udp://");
}

NetworkAddress parse_udp_url(const std::string& text) {
    return parse_datagram_url("udp", text);
}

NetworkAddress parse_datagram_url(std::string_view scheme, const std::string& text) {
    constexpr std::array<std::string_view, 2> kNames{"interface", "ttl"};
    NetworkEndpoint place = parse_network_place(scheme, text, kNames);
    take_group_settings(text, place);
    return place.address;
}

void take_group_settings(const std::string& text, NetworkEndpoint& place) {
    constexpr int kMostHops = 255;
    place.address.interface = place.settings["interface"];
    if (!place.settings.contains("ttl")) return;
    const std::string& digits = place.settings["ttl"];
    int ttl = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ttl);
    if (error != std::errc() || end != digits.data() + digits.size() || ttl < 0 || ttl > kMostHops)
        throw IoError(fmt::format("'{}': ttl= takes a number of hops from 0 to {}", text, kMostHops));
    place.address.ttl = ttl;
}

UdpSender::UdpSender(const NetworkAddress& to, WhenFull when_full)
    : flags_(MSG_NOSIGNAL | (when_full == WhenFull::lose ? MSG_DONTWAIT : 0)),
      name_(fmt::format("{}:{} by UDP", to.host, to.port)) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    if (error != 0) throw IoError(fmt::format("cannot send to {}: {}", name_, gai_strerror(error)));
    socket_ = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    try {
        if (socket_ >= 0) set_up_group(to, *found->ai_addr);
    } catch (const IoError&) {
        ::close(socket_);
        throw;
    }
    if (socket_ < 0 || ::connect(socket_, found->ai_addr, found->ai_addrlen) != 0) {
        const int why = errno;
        if (socket_ >= 0) ::close(socket_);
        throw IoError(fmt::format("cannot send to {}: {}", name_, std::strerror(why)));
    }
}

void UdpSender::set_up_group(const NetworkAddress& to, const sockaddr& address) const {
    if (internal::is_group(address)) {
        internal::send_through(socket_, address, to.interface);
        if (to.ttl) internal::send_so_far(socket_, address, *to.ttl);
    } else if (to.ttl || !to.interface.empty()) {
        throw IoError(fmt::format(
            "cannot send to {}: interface= and ttl= are for groups, and {} is the address of one peer", name_,
            to.host));
    }
}

UdpSender::UdpSender(UdpSender&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      flags_(other.flags_),
      name_(std::move(other.name_)),
      sent_(other.sent_),
      refused_(other.refused_),
      bytes_lost_(other.bytes_lost_) {}

UdpSender::~UdpSender() {
    if (socket_ >= 0) ::close(socket_);
}

void UdpSender::send(std::span<const std::uint8_t> datagram) {
    bool answered = false;
    while (true) {
        if (::send(socket_, datagram.data(), datagram.size(), flags_) >= 0) {
            ++sent_;
            return;
        }
        if (means_nobody_there(errno)) {
            ++refused_;
            // This answers to an earlier datagram; a peer that is there again gets the one at hand.
            if (errno == ECONNREFUSED && !std::exchange(answered, true)) continue;
            return;
        }
        if (errno == EAGAIN) {
            bytes_lost_ += datagram.size();
            return;
        }
        if (errno != EINTR) throw IoError(fmt::format("cannot send to {}: {}", name_, std::strerror(errno)));
    }
}

}  // namespace tidemill::io
