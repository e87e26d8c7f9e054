#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace tidemill {

/// Threads that outlive the jobs they do.
class ThreadPool {
  public:
    using Job = std::function<void()>;

    ThreadPool();
    /// Waits for jobs that are being done, unless this is one of them, or the process was forked.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Begins all jobs at once, each on a thread of its own, when those before are done. Jobs must not throw;
    /// a forced unwind ends the thread, and the next jobs get a new one. So they do in a forked process,
    /// which has none of those that there were. Throws NoMoreThreads when the system refuses so many: then no
    /// job has begun, and those threads that there are wait for the next ones.
    void start(std::vector<Job> jobs);
    /// Until the last is done.
    void wait();
    /// Until all but the job that calls this, if one does, are done, or for a second: they may never be.
    void wait_for_others();

    /// Both. Where a forced unwind ends the calling thread meanwhile, `halt` is called, which makes the jobs
    /// end soon, and then they are waited for.
    void run_all(std::vector<Job> jobs, const Job& halt);

  private:
    class Threads;

    Threads& threads();

    std::unique_ptr<Threads> threads_;
};

}  // namespace tidemill
