#include "tidemill/run/pool/thread_pool.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include "tidemill/platform/start_thread.hpp"

namespace tidemill {

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    work_.notify_all();
}

void ThreadPool::start(std::vector<Job> jobs) {
    add_threads(jobs.size());
    {
        const std::lock_guard lock(mutex_);
        unfinished_ = jobs.size();
        jobs_ = std::move(jobs);
    }
    work_.notify_all();
}

// Before any job is told of: jobs may wait for each other, so all begin or none.
void ThreadPool::add_threads(std::size_t wanted) {
    threads_.reserve(wanted);
    try {
        for (const std::size_t index : std::exchange(gone_, {}))
            threads_[index] = start_thread([this, index] { serve(index); });
        while (threads_.size() < wanted) {
            threads_.push_back(start_thread([this, index = threads_.size()] { serve(index); }));
        }
    } catch (const NoMoreThreads& error) {
        throw NoMoreThreads(
            fmt::format("{} of {} threads could be started: {}", threads_.size(), wanted, error.what()));
    }
}

void ThreadPool::wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return unfinished_ == 0; });
}

void ThreadPool::serve(std::size_t index) {
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

void ThreadPool::end_job(std::size_t index, bool thread_goes) {
    const std::lock_guard lock(mutex_);
    if (thread_goes) gone_.push_back(index);
    if (--unfinished_ == 0) done_.notify_one();
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
