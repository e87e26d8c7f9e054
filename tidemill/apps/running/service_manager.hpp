#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tidemill::cli {

/// Reports this program's state to systemd (Type=notify): each time one datagram to the socket that
/// $NOTIFY_SOCKET names. Where there is no such variable, nothing is sent.
class ServiceManager {
  public:
    /// By the variables of this process.
    ServiceManager();
    /// Sends to the listener at that address: a path, or "@" and an abstract name; empty: nobody.
    explicit ServiceManager(std::string address) : address_(std::move(address)) {}

    bool listens() const { return !address_.empty(); }

    /// "READY=1", "WATCHDOG=1", "STOPPING=1", "STATUS=..." in one line. What does not arrive is lost.
    void tell(std::string_view state) const noexcept;

    /// How often WATCHDOG=1 has to come: $WATCHDOG_USEC, where that is meant for this process.
    std::optional<std::chrono::microseconds> patience() const { return patience_; }

  private:
    std::string address_;
    std::optional<std::chrono::microseconds> patience_{};
};

}  // namespace tidemill::cli
