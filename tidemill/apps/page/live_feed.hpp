#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace tidemill::page {

/// State at one moment, as viewers get it.
struct Snapshot {
    std::uint64_t number = 0;  ///< 1 for the first one
    std::string event;         ///< one line of JSON, for the page
};

/// The newest snapshot, for any number of viewers, each at its own pace: a slow one misses some, and holds up
/// no other.
class LiveFeed {
  public:
    void publish(std::string event);

    /// Waits for one with a number above `seen`; null when none comes in time, or before the feed is
    /// closed.
    std::shared_ptr<const Snapshot> wait(std::uint64_t seen, std::chrono::milliseconds at_most) const;

    /// Nobody waits any more.
    void close();
    bool is_closed() const;

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::shared_ptr<const Snapshot> newest_;
    bool closed_ = false;
};

}  // namespace tidemill::page
