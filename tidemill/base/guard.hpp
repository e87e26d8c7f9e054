#pragma once

#include <exception>
#include <mutex>
#include <utility>

#include <cxxabi.h>
#include <pthread.h>

#include "tidemill/base/error.hpp"

namespace tidemill::internal {

/// Calls what a user gave (a function, a virtual function, a stream) where an exception must not get out.
/// Returns what it threw, or null. A forced unwind (pthread_exit(), pthread_cancel()) is passed on: the C
/// library aborts the process where one is caught and not thrown again.
template <class Call>
std::exception_ptr thrown_by(Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

/// While this lives, a pthread_cancel() of the thread that made it waits: what is called might not be ready
/// to be unwound.
class CancelLater {
  public:
    CancelLater() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~CancelLater() { pthread_setcancelstate(before_, nullptr); }
    CancelLater(const CancelLater&) = delete;
    CancelLater& operator=(const CancelLater&) = delete;

    /// Calls what is ready, with the thread as it was before.
    template <class Call>
    void except_in(Call&& call) const {
        int later = 0;
        pthread_setcancelstate(before_, &later);
        const auto failure = thrown_by(std::forward<Call>(call));
        pthread_setcancelstate(later, nullptr);
        if (failure) std::rethrow_exception(failure);
    }

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

/// The first failure of several threads.
class FirstFailure {
  public:
    /// Null is none. Returns whether it is the first.
    bool note(std::exception_ptr failure) noexcept {
        const std::lock_guard lock(mutex_);
        if (!failure || failure_) return false;
        failure_ = std::move(failure);
        return true;
    }

    bool any() const {
        const std::lock_guard lock(mutex_);
        return failure_ != nullptr;
    }

    /// Throws it, once, where there is one.
    void rethrow() {
        std::unique_lock lock(mutex_);
        const std::exception_ptr failure = std::exchange(failure_, nullptr);
        lock.unlock();
        if (failure) std::rethrow_exception(failure);
    }

  private:
    mutable std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace tidemill::internal
