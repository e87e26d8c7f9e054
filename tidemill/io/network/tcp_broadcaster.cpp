#include "tidemill/io/network/tcp_broadcaster.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

constexpr int kMostKnocking = 16;

int listening_socket(const addrinfo& address) {
    const int made = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -1;
    const int yes = 1;  // also where the last connection has just ended
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(made, address.ai_addr, address.ai_addrlen) == 0 && ::listen(made, kMostKnocking) == 0)
        return made;
    const int why = errno;
    ::close(made);
    errno = why;
    return -1;
}

int listen_at(const NetworkAddress& at) {
    const std::string name = network_url("tcp-listen", at);
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
    if (error != 0) throw IoError(fmt::format("cannot listen at {}: {}", name, gai_strerror(error)));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    int why = EADDRNOTAVAIL;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        const int made = listening_socket(*one);
        if (made >= 0) return made;
        why = errno;
    }
    throw IoError(fmt::format("cannot listen at {}: {}", name, std::strerror(why)));
}

}  // namespace

TcpBroadcaster::TcpBroadcaster(const NetworkAddress& at, const BroadcastLimits& limits)
    : limits_(limits), socket_(listen_at(at)) {}

TcpBroadcaster::~TcpBroadcaster() {
    for (const Client& client : clients_) ::close(client.socket);
    ::close(socket_);
}

void TcpBroadcaster::let_in() {
    for (int knocked = 0; knocked < kMostKnocking; ++knocked) {
        const int made = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (made < 0) return;  // nobody, or a client that has left
        if (clients_.size() >= limits_.clients) {
            ++counts_.clients_refused;
            ::close(made);
        } else {
            ++counts_.clients;
            clients_.push_back({made});
        }
    }
}

void TcpBroadcaster::send_waiting(Client& client) {
    while (client.left() > 0) {
        const ssize_t sent = ::send(client.socket, client.waiting.data() + client.sent, client.left(),
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            client.sent += static_cast<std::size_t>(sent);
        } else if (errno == EAGAIN || errno == ENOBUFS) {
            break;
        } else if (errno != EINTR) {
            client.is_gone = true;
            return;
        }
    }
    client.waiting.erase(client.waiting.begin(),
                         client.waiting.begin() + static_cast<std::ptrdiff_t>(std::exchange(client.sent, 0)));
}

void TcpBroadcaster::give(Client& client, std::span<const std::uint8_t> piece) {
    if (client.left() + piece.size() > limits_.waiting_bytes) send_waiting(client);
    if (client.left() + piece.size() <= limits_.waiting_bytes) {
        client.waiting.insert(client.waiting.end(), piece.begin(), piece.end());
    } else {
        counts_.bytes_lost += piece.size();
        counts_.clients_slow += std::exchange(client.is_slow, true) ? 0U : 1U;
    }
    send_waiting(client);
}

void TcpBroadcaster::forget_those_gone() {
    for (const Client& client : clients_)
        if (client.is_gone) ::close(client.socket);
    std::erase_if(clients_, [](const Client& client) { return client.is_gone; });
}

void TcpBroadcaster::write(std::span<const std::uint8_t> piece) {
    let_in();
    for (Client& client : clients_) give(client, piece);
    forget_those_gone();
}

void TcpBroadcaster::close(std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    const auto waits = [](const Client& client) { return !client.is_gone && client.left() > 0; };
    for (auto slow = std::ranges::find_if(clients_, waits); slow != clients_.end();
         slow = std::ranges::find_if(clients_, waits)) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd for_room{slow->socket, POLLOUT, 0};
        if (left.count() <= 0 || ::poll(&for_room, 1, static_cast<int>(left.count())) == 0) break;
        send_waiting(*slow);
    }
    for (Client& client : clients_) {
        counts_.bytes_lost += client.left();
        counts_.clients_slow += client.left() > 0 && !client.is_slow ? 1U : 0U;
        client.is_gone = true;
    }
    forget_those_gone();
}

}  // namespace tidemill::io
