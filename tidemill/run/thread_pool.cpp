#include "tidemill/run/thread_pool.hpp"

#include <utility>

namespace tidemill {

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run_all(std::vector<Job> jobs) {
    std::unique_lock lock(mutex_);
    unfinished_ = jobs.size();
    jobs_ = std::move(jobs);
    while (threads_.size() < jobs_.size()) {
        threads_.emplace_back([this, index = threads_.size()] { serve(index); });
    }
    work_.notify_all();
    done_.wait(lock, [this] { return unfinished_ == 0; });
}

void ThreadPool::serve(std::size_t index) {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return closing_ || (index < jobs_.size() && jobs_[index]); });
        if (closing_) return;
        const Job job = std::exchange(jobs_[index], nullptr);
        lock.unlock();
        job();
        lock.lock();
        if (--unfinished_ == 0) done_.notify_one();
    }
}

}  // namespace tidemill
