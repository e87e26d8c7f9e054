#pragma once

#include <mutex>

namespace tidemill::dvbs2 {

/// The latest copy of a value, for threads that look on while its owner goes on changing it. The owner never
/// waits: while somebody reads, the copy stays as it is until the next offer.
template <class Value>
class Published {
  public:
    void offer(const Value& value) {
        if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) value_ = value;
    }

    /// The same, but now: for the last one.
    void set(const Value& value) {
        const std::scoped_lock lock(mutex_);
        value_ = value;
    }

    Value get() const {
        const std::scoped_lock lock(mutex_);
        return value_;
    }

  private:
    mutable std::mutex mutex_;
    Value value_{};
};

}  // namespace tidemill::dvbs2
