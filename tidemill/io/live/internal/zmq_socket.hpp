#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidemill::io::internal {

struct ZmqApi;

/// A socket of libzmq that receives, found where the program runs.
class ZmqSocket {
  public:
    enum class Type : int { subscribe = 2, pull = 7 };

    /// Throws IoError without the library, or for an endpoint that it refuses.
    ZmqSocket(Type type, const std::string& endpoint);
    ZmqSocket(const ZmqSocket&) = delete;
    ZmqSocket& operator=(const ZmqSocket&) = delete;
    ~ZmqSocket();

    /// Waits for the next part of a message; empty once end() was called. One beyond kMostBytes is as long as
    /// that, which no whole number of samples is. Valid until the next call.
    std::span<const std::byte> next();
    bool has_more_parts() const;

    /// From any thread: ends a wait.
    void end() noexcept;

    static constexpr std::size_t kMostBytes = (16 << 20) + 1;

  private:
    void check(bool good, const std::string& what) const;

    const ZmqApi& api_;
    void* context_ = nullptr;
    void* socket_ = nullptr;
    int ended_ = -1;  // an eventfd: readable for ever once end() was called
    std::atomic<bool> has_ended_ = false;
    std::vector<std::byte> message_;
};

}  // namespace tidemill::io::internal
