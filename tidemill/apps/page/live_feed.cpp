#include "tidemill/apps/page/live_feed.hpp"

#include <utility>

namespace tidemill::page {

void LiveFeed::publish(std::string event) {
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t number = newest_ ? newest_->number + 1 : 1;
        newest_ = std::make_shared<const Snapshot>(Snapshot{number, std::move(event)});
    }
    changed_.notify_all();
}

std::shared_ptr<const Snapshot> LiveFeed::wait(std::uint64_t seen, std::chrono::milliseconds at_most) const {
    std::unique_lock lock(mutex_);
    const auto is_newer = [&] { return newest_ && newest_->number > seen; };
    changed_.wait_for(lock, at_most, [&] { return closed_ || is_newer(); });
    return is_newer() ? newest_ : nullptr;
}

void LiveFeed::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

bool LiveFeed::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

}  // namespace tidemill::page
