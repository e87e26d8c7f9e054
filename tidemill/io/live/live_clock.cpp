#include "tidemill/io/live/live_clock.hpp"

#include <chrono>

namespace tidemill::io {

std::int64_t LiveClock::now_ns() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void LiveClock::wait_ns(std::int64_t ns) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return ended_; });
}

void LiveClock::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    wake_.notify_all();
}

bool LiveClock::ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
}

}  // namespace tidemill::io
