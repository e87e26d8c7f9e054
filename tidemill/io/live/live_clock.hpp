#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tidemill::io {

/// The clock on the wall for waits on a radio, and an end to waiting.
class LiveClock {
  public:
    virtual ~LiveClock() = default;

    virtual std::int64_t now_ns() const;

    /// Returns early once end() was called.
    virtual void wait_ns(std::int64_t ns);

    /// From any thread.
    void end() noexcept;
    bool ended() const;

  private:
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
};

}  // namespace tidemill::io
