#include "tidemill/runtime/threads/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

#include "tidemill/machine/making_process.hpp"
#include "tidemill/machine/own_thread.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill {

/// Those of one process, and what they look at.
class ThreadPool::Threads {
  public:
    void start(std::vector<Job> jobs);
    void wait();
    void wait_for_others();
    void close();
    bool can_be_waited_for() const;
    bool is_of_this_process() const { return process_.is_here(); }

  private:
    void add(std::size_t wanted);
    void serve(std::size_t index);
    void end_job(std::size_t index, bool thread_goes);
    OwnThread start_one(std::size_t index) {
        return OwnThread(start_thread([this, index] { serve(index); }));
    }

    MakingProcess process_;
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job> jobs_;          // one per thread; empty where there is none
    std::vector<std::size_t> gone_;  // threads that ended in their jobs
    std::size_t unfinished_ = 0;
    bool closing_ = false;
    std::vector<OwnThread> threads_;
};

bool ThreadPool::Threads::can_be_waited_for() const {
    if (!process_.is_here()) return false;
    for (const OwnThread& thread : threads_)
        if (!thread.can_be_waited_for()) return false;
    return true;
}

void ThreadPool::Threads::close() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    work_.notify_all();
}

void ThreadPool::Threads::start(std::vector<Job> jobs) {
    add(jobs.size());
    {
        const std::lock_guard lock(mutex_);
        unfinished_ = jobs.size();
        jobs_ = std::move(jobs);
    }
    work_.notify_all();
}

// Before any job is known: jobs may wait for each other, so all begin or none.
void ThreadPool::Threads::add(std::size_t wanted) {
    threads_.reserve(wanted);
    try {
        for (; !gone_.empty(); gone_.pop_back()) threads_[gone_.back()] = start_one(gone_.back());
        while (threads_.size() < wanted) threads_.push_back(start_one(threads_.size()));
    } catch (const NoMoreThreads& error) {
        throw NoMoreThreads(
            fmt::format("{} of {} threads could be started: {}", threads_.size(), wanted, error.what()));
    }
}

void ThreadPool::Threads::wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return unfinished_ == 0; });
}

void ThreadPool::Threads::wait_for_others() {
    const auto is_caller = [](const OwnThread& thread) { return thread.is_caller(); };
    const std::size_t own = std::ranges::any_of(threads_, is_caller) ? 1 : 0;
    std::unique_lock lock(mutex_);
    done_.wait_for(lock, std::chrono::seconds(1), [&] { return unfinished_ <= own; });
}

void ThreadPool::Threads::serve(std::size_t index) {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return closing_ || (index < jobs_.size() && jobs_[index]); });
        if (index >= jobs_.size() || !jobs_[index]) return;
        const Job job = std::exchange(jobs_[index], nullptr);
        lock.unlock();
        try {
            job();
        } catch (const abi::__forced_unwind&) {
            end_job(index, /*thread_goes=*/true);
            throw;
        }
        end_job(index, /*thread_goes=*/false);
        lock.lock();
    }
}

void ThreadPool::Threads::end_job(std::size_t index, bool thread_goes) {
    const std::lock_guard lock(mutex_);
    if (thread_goes) gone_.push_back(index);
    --unfinished_;
    done_.notify_all();
}

ThreadPool::ThreadPool() = default;

ThreadPool::~ThreadPool() {
    if (!threads_) return;
    if (!threads_->can_be_waited_for()) {
        threads_.release();  // others may still look at it, and nobody can end them
        return;
    }
    threads_->close();
}

ThreadPool::Threads& ThreadPool::threads() {
    if (threads_ && !threads_->can_be_waited_for()) threads_.release();
    if (!threads_) threads_ = std::make_unique<Threads>();
    return *threads_;
}

void ThreadPool::start(std::vector<Job> jobs) {
    threads().start(std::move(jobs));
}

void ThreadPool::wait() {
    threads_->wait();
}

void ThreadPool::wait_for_others() {
    if (threads_ && threads_->is_of_this_process()) threads_->wait_for_others();
}

void ThreadPool::run_all(std::vector<Job> jobs, const Job& halt) {
    start(std::move(jobs));
    try {
        wait();
    } catch (const abi::__forced_unwind&) {
        halt();
        wait();
        throw;
    }
}

}  // namespace tidemill
