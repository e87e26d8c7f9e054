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

    /// Begins all jobs at once, each on a thread of its own, when those before are done. Jobs must not throw;
    /// a forced unwind ends the thread, and the next jobs get a new one.
    /// Throws NoMoreThreads when the system refuses so many: then no job has begun, and those threads
    /// that there are wait for the next ones.
    void start(std::vector<Job> jobs);
    /// Until the last is done.
    void wait();

    /// Both. Where a forced unwind ends the calling thread meanwhile, `halt` is called, which makes the jobs
    /// end soon, and then they are waited for.
    void run_all(std::vector<Job> jobs, const Job& halt);

  private:
    void add_threads(std::size_t wanted);
    void serve(std::size_t index);
    void end_job(std::size_t index, bool thread_goes);

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job> jobs_;          // one per thread; empty where there is none
    std::vector<std::size_t> gone_;  // threads that ended in their jobs
    std::size_t unfinished_ = 0;
    bool closing_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace tidemill
