#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tidemill {

/// The other end of a connection over TCP on this machine, for tests.
class LoopbackPeer {
  public:
    explicit LoopbackPeer(int socket) : socket_(socket) {
        if (socket_ < 0) throw std::runtime_error("no connection");
    }
    LoopbackPeer(const LoopbackPeer&) = delete;
    LoopbackPeer& operator=(const LoopbackPeer&) = delete;
    ~LoopbackPeer() { close(); }

    /// Connects; a listener at the port may begin a moment later.
    static int connect(std::uint16_t port) {
        for (int tries = 0; tries < 500; ++tries) {
            const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
            const sockaddr_in to = address(port);
            if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return socket;
            ::close(socket);
            ::usleep(10'000);
        }
        return -1;
    }

    int socket() const { return socket_; }

    /// False when the other one has gone.
    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// So many bytes, or fewer at the end.
    std::string receive(std::size_t bytes) const {
        std::string all(bytes, '\0');
        std::size_t got = 0;
        while (got < bytes) {
            const ssize_t some = ::recv(socket_, all.data() + got, bytes - got, 0);
            if (some <= 0) break;
            got += static_cast<std::size_t>(some);
        }
        all.resize(got);
        return all;
    }

    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }

    static sockaddr_in address(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }

  private:
    int socket_;
};

/// Listens at a free port of this machine.
class LoopbackServer {
  public:
    LoopbackServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at = LoopbackPeer::address(0);
        socklen_t length = sizeof at;
        if (::bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::listen(socket_, 1) != 0)
            throw std::runtime_error("cannot listen");
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &length);
        port_ = ntohs(at.sin_port);
    }
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;
    ~LoopbackServer() { ::close(socket_); }

    std::uint16_t port() const { return port_; }
    /// Waits for somebody to connect.
    int accept() const { return ::accept(socket_, nullptr, nullptr); }

  private:
    int socket_;
    std::uint16_t port_ = 0;
};

}  // namespace tidemill
