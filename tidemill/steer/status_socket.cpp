#include "tidemill/steer/status_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

constexpr std::size_t kMostAsking = 16;
constexpr int kMostLooks = 20;
constexpr timeval kPatience = {.tv_sec = 5, .tv_usec = 0};

struct Address {
    sockaddr_un socket{};
    socklen_t bytes = 0;
};

// A name that begins with a zero byte is no file: see unix(7).
Address address_of(const std::string& name) {
    Address address{.socket = {.sun_family = AF_UNIX, .sun_path = {}}};
    if (name.empty() || name.size() + 1 > sizeof(address.socket.sun_path))
        throw SteerError(fmt::format("'{}' is no name of a daemon: give 1 to {} letters", name,
                                     sizeof(address.socket.sun_path) - 1));
    std::ranges::copy(name, address.socket.sun_path + 1);
    address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

int open_socket(int flags) {
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor < 0)
        throw SteerError(fmt::format("no socket: {}", std::generic_category().message(errno)));
    return descriptor;
}

/// Connected to a daemon, or less than 0.
int connected_to(const std::string& name) {
    const Address address = address_of(name);
    const int descriptor = open_socket(0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

std::string owner_of(const std::string& name) {
    const int descriptor = connected_to(name);
    if (descriptor < 0) return "";
    ucred owner{};
    socklen_t bytes = sizeof(owner);
    const bool is_known = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &owner, &bytes) == 0;
    close(descriptor);
    return is_known ? fmt::format(", process {}", owner.pid) : "";
}

std::optional<StatusForm> form_of(char letter) {
    for (const StatusForm form : {StatusForm::text, StatusForm::json, StatusForm::metrics})
        if (letter == static_cast<char>(form)) return form;
    return std::nullopt;
}

}  // namespace

StatusSocket::StatusSocket(const std::string& name) : listening_(-1) {
    const Address address = address_of(name);
    listening_ = open_socket(SOCK_NONBLOCK);
    if (bind(listening_, reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) == 0 &&
        listen(listening_, kMostAsking) == 0)
        return;
    const int error = errno;
    close(listening_);
    if (error != EADDRINUSE)
        throw SteerError(fmt::format("no socket {}: {}", name, std::generic_category().message(error)));
    throw SteerError(
        fmt::format("another daemon steers this machine already{}: end it first, or see what it does with "
                    "tidemill bridge status",
                    owner_of(name)));
}

StatusSocket::~StatusSocket() {
    for (const Asking& each : asking_) close(each.descriptor);
    close(listening_);
}

void StatusSocket::let_in() {
    while (asking_.size() < kMostAsking) {
        const int descriptor = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) return;
        asking_.push_back({descriptor});
    }
}

void StatusSocket::answer(const std::function<std::string(StatusForm)>& status) {
    let_in();
    std::erase_if(asking_, [&](Asking& each) {
        char letter = 0;
        const ssize_t bytes = recv(each.descriptor, &letter, 1, 0);
        const bool waits = bytes < 0 && errno == EAGAIN && ++each.looks < kMostLooks;
        if (waits) return false;
        if (const auto form = form_of(letter); bytes == 1 && form) {
            const std::string text = status(*form);
            static_cast<void>(send(each.descriptor, text.data(), text.size(), MSG_NOSIGNAL));
        }
        close(each.descriptor);
        return true;
    });
}

std::string ask_status(const std::string& name, StatusForm form) {
    const int descriptor = connected_to(name);
    if (descriptor < 0)
        throw SteerError(fmt::format("no daemon steers this machine; begin with tidemill bridge run"));
    const char letter = static_cast<char>(form);
    std::string answer;
    std::array<char, 4096> part{};
    for (ssize_t bytes = send(descriptor, &letter, 1, MSG_NOSIGNAL); bytes > 0;) {
        bytes = recv(descriptor, part.data(), part.size(), 0);
        if (bytes > 0) answer.append(part.data(), static_cast<std::size_t>(bytes));
    }
    close(descriptor);
    if (answer.empty()) throw SteerError("the daemon did not answer within five seconds: is it stopped?");
    return answer;
}

}  // namespace tidemill::steer
