#include "tidemill/apps/running/service_manager.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tidemill/io/files/number_text.hpp"

namespace tidemill::cli {

namespace {

std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text ? text : "";
}

// A process that inherited the variables of another one is not meant by them.
std::optional<std::chrono::microseconds> patience_of_this_process() {
    const std::string pid = variable("WATCHDOG_PID");
    if (!pid.empty() && pid != std::to_string(getpid())) return std::nullopt;
    const auto us = io::whole_number<std::int64_t>(variable("WATCHDOG_USEC"));
    if (!us || *us <= 0) return std::nullopt;
    return std::chrono::microseconds(*us);
}

}  // namespace

ServiceManager::ServiceManager()
    : address_(variable("NOTIFY_SOCKET")), patience_(patience_of_this_process()) {}

void ServiceManager::tell(std::string_view state) const noexcept {
    sockaddr_un to{};
    if (address_.empty() || address_.size() >= sizeof to.sun_path) return;
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (address_[0] == '@') to.sun_path[0] = '\0';
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    const timeval most{.tv_sec = 1, .tv_usec = 0};  // a manager that does not read holds up nobody
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
             length);
    ::close(socket);
}

}  // namespace tidemill::cli
