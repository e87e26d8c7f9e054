#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tidemill {

/// Threads that outlive the jobs they do.
class ThreadPool {
  public:
    using Job = std::function<void()>;

    ThreadPool() = default;
    /// Waits for jobs that are being done.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Begins all jobs at once, each on a thread of its own, when those before are done. Jobs must not throw.
    /// Throws NoMoreThreads when the system refuses so many: then no job has begun, and those threads
    /// that there are wait for the next ones.
    void start(std::vector<Job> jobs);
    /// Until the last is done.
    void wait();

    void run_all(std::vector<Job> jobs) {
        start(std::move(jobs));
        wait();
    }

  private:
    void add_threads(std::size_t wanted);
    void serve(std::size_t index);

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job> jobs_;  // one per thread; empty where there is none
    std::size_t unfinished_ = 0;
    bool closing_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace tidemill
