#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace tidemill::internal {

/// Changes numbers on a thread of its own, one batch after the other of those that are waiting, in an order
/// that a seed says: what a device is to a run.
class Elsewhere {
  public:
    struct Sent {
        std::vector<std::uint64_t> numbers{};
        bool is_done = false;
    };

    using Change = std::uint64_t (*)(std::uint64_t);

    Elsewhere(unsigned seed, Change change) : random_(seed), change_(change), thread_([this] { work(); }) {}
    ~Elsewhere() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Elsewhere(const Elsewhere&) = delete;
    Elsewhere& operator=(const Elsewhere&) = delete;

    void send(Sent& sent) {
        const std::lock_guard lock(mutex_);
        sent.is_done = false;
        waiting_.push_back(&sent);
        most_ = std::max(most_, waiting_.size() + is_busy_);
        changed_.notify_all();
    }
    bool is_done(const Sent& sent) {
        const std::lock_guard lock(mutex_);
        return sent.is_done;
    }
    void wait(const Sent& sent) {
        std::unique_lock lock(mutex_);
        begins_at_ = 0;
        changed_.notify_all();
        changed_.wait(lock, [&] { return sent.is_done; });
    }
    /// Does nothing before so many are there, or one of them is waited for.
    void begin_at(std::size_t batches) {
        const std::lock_guard lock(mutex_);
        begins_at_ = batches;
    }
    /// That were there at a time.
    std::size_t most() {
        const std::lock_guard lock(mutex_);
        return most_;
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ends_ || (!waiting_.empty() && most_ >= begins_at_); });
            if (waiting_.empty()) return;
            const auto chosen = waiting_.begin() + static_cast<std::ptrdiff_t>(random_() % waiting_.size());
            Sent& sent = **chosen;
            waiting_.erase(chosen);
            is_busy_ = true;
            lock.unlock();
            for (std::uint64_t& number : sent.numbers) number = change_(number);
            lock.lock();
            is_busy_ = false;
            sent.is_done = true;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Sent*> waiting_;
    std::mt19937 random_;
    Change change_;
    std::size_t most_ = 0;
    std::size_t begins_at_ = 0;
    bool is_busy_ = false;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace tidemill::internal
