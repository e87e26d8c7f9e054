#pragma once

#include <thread>
#include <utility>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/making_process.hpp"

namespace tidemill {

/// A thread that is asked to stop, and waited for, when this goes. Where nobody can wait for it, it is left
/// to itself, and so is to be all that it looks at: in a forked process, which has no such thread, and in the
/// thread itself, which may call exit().
class OwnThread {
  public:
    OwnThread() = default;
    explicit OwnThread(std::jthread thread) : thread_(std::move(thread)) {}
    OwnThread(OwnThread&&) noexcept = default;
    OwnThread& operator=(OwnThread&& other) noexcept {
        end();
        thread_ = std::move(other.thread_);
        process_ = other.process_;
        return *this;
    }
    ~OwnThread() { end(); }

    bool is_caller() const { return thread_.get_id() == std::this_thread::get_id(); }
    bool can_be_waited_for() const { return thread_.joinable() && process_.is_here() && !is_caller(); }
    /// Asks it to stop, and waits for it or leaves it.
    void end() {
        if (!thread_.joinable()) return;
        if (!can_be_waited_for()) {
            new std::jthread(std::move(thread_));
            return;
        }
        const internal::CancelLater until_joined;
        thread_.request_stop();
        thread_.join();
    }

  private:
    std::jthread thread_;
    MakingProcess process_;
};

}  // namespace tidemill
