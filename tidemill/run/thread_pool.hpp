#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tidemill {

/// Threads that outlive the jobs they do.
class ThreadPool {
  public:
    using Job = std::function<void()>;

    ThreadPool() = default;
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Does all jobs at once, each on a thread of its own, and returns when the last is done. Jobs must not
    /// throw.
    void run_all(std::vector<Job> jobs);

    std::size_t size() const { return threads_.size(); }

  private:
    void serve(std::size_t index);

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job> jobs_;  // one per thread; empty where there is none
    std::size_t unfinished_ = 0;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace tidemill
