#include "tidemill/io/network/internal/tcp_opening.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/files/internal/file_failure.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {
namespace {

addrinfo* addresses_of(const NetworkAddress& address, const std::filesystem::path& name, bool listens) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    if (listens) hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    if (error == 0) return found;
    throw IoError(fmt::format("cannot open {}: {}", name.string(), gai_strerror(error)));
}

}  // namespace

TcpOpening TcpOpening::connect(const NetworkAddress& to, const std::filesystem::path& name) {
    return {to, name, /*listens=*/false};
}

TcpOpening TcpOpening::listen(const NetworkAddress& at, const std::filesystem::path& name) {
    return {at, name, /*listens=*/true};
}

TcpOpening::TcpOpening(const NetworkAddress& address, std::filesystem::path name, bool listens)
    : name_(std::move(name)),
      listens_(listens),
      all_(addresses_of(address, name_, listens), freeaddrinfo),
      next_(all_.get()) {
    open_next(EADDRNOTAVAIL);
}

TcpOpening::TcpOpening(TcpOpening&& other) noexcept
    : name_(std::move(other.name_)),
      listens_(other.listens_),
      all_(std::move(other.all_)),
      next_(other.next_),
      socket_(std::exchange(other.socket_, -1)) {}

TcpOpening::~TcpOpening() {
    if (socket_ >= 0) ::close(socket_);
}

short TcpOpening::events() const {
    return listens_ ? POLLIN : POLLOUT;
}

bool TcpOpening::begin_at(const addrinfo& address) const {
    if (!listens_)
        return ::connect(socket_, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS;
    const int yes = 1;  // also where the last connection has just ended
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return ::bind(socket_, address.ai_addr, address.ai_addrlen) == 0 && ::listen(socket_, 1) == 0;
}

void TcpOpening::open_next(int why_not) {
    for (; next_; why_not = errno) {
        const addrinfo& address = *std::exchange(next_, next_->ai_next);
        if (socket_ >= 0) ::close(socket_);
        socket_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (socket_ >= 0 && begin_at(address)) return;
    }
    fail_file(listens_ ? "listen at" : "connect to", name_, why_not);
}

int TcpOpening::finish() {
    if (listens_) return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return std::exchange(socket_, -1);
    open_next(error);
    return -1;
}

}  // namespace tidemill::io::internal
