#include "tidemill/io/network/udp_receiver.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/network/internal/multicast.hpp"

namespace tidemill::io {
namespace {

constexpr std::size_t kMostDatagramBytes = 65536;
constexpr int kKeptBytes = 4 << 20;  // while the transmitter is busy; the system may allow less

[[noreturn]] void fail(const NetworkAddress& at, const char* why) {
    throw IoError(fmt::format("cannot listen for datagrams at {}:{}: {}", at.host, at.port, why));
}

}  // namespace

UdpReceiver::UdpReceiver(const NetworkAddress& at) : datagram_(kMostDatagramBytes) {
    try {
        open(at);
    } catch (const IoError&) {
        if (socket_ >= 0) ::close(socket_);
        if (ended_ >= 0) ::close(ended_);
        throw;
    }
}

void UdpReceiver::open(const NetworkAddress& at) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    if (error != 0) fail(at, gai_strerror(error));
    ended_ = eventfd(0, EFD_CLOEXEC);
    socket_ = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ended_ < 0 || socket_ < 0) fail(at, std::strerror(errno));
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &kKeptBytes, sizeof kKeptBytes);
    if (internal::is_group(*found->ai_addr)) internal::join_group(socket_, *found->ai_addr, at.interface);
    if (::bind(socket_, found->ai_addr, found->ai_addrlen) != 0) fail(at, std::strerror(errno));
}

UdpReceiver::~UdpReceiver() {
    ::close(socket_);
    ::close(ended_);
}

bool UdpReceiver::wait(std::optional<std::chrono::milliseconds> at_most) {
    std::array<pollfd, 2> for_either{{{socket_, POLLIN, 0}, {ended_, POLLIN, 0}}};
    const int timeout = at_most ? static_cast<int>(at_most->count()) : -1;
    int ready = -1;
    while (ready < 0) {
        ready = poll(for_either.data(), for_either.size(), timeout);
        if (ready < 0 && errno != EINTR)
            throw IoError(fmt::format("cannot wait for datagrams: {}", std::strerror(errno)));
    }
    return ready > 0 && for_either[1].revents == 0;
}

void UdpReceiver::end() noexcept {
    has_ended_ = true;
    eventfd_write(ended_, 1);
}

std::span<const std::uint8_t> UdpReceiver::next() {
    while (true) {
        const ssize_t got = ::recv(socket_, datagram_.data(), datagram_.size(), 0);
        if (got > 0) return std::span(datagram_).first(static_cast<std::size_t>(got));
        if (got < 0 && errno == EAGAIN) return {};
        if (got < 0 && errno != EINTR) {
            throw IoError(fmt::format("cannot receive datagrams: {}", std::strerror(errno)));
        }
    }
}

std::uint16_t UdpReceiver::port() const {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    // The port stands at the same place in both families.
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace tidemill::io
