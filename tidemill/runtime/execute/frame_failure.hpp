#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

/// A task's failure as the thread that ran it notes it: nothing is allocated, as there may be no memory left.
struct FrameFailure {
    const std::string* task = nullptr;  ///< its name, which outlives the run; null: between two tasks
    std::size_t stage = 0;
    std::size_t replica = 0;
    std::uint64_t frame = 0;
    std::exception_ptr cause{};  ///< null: the thread was ended there

    [[noreturn]] void raise() const {
        if (!task && cause) std::rethrow_exception(cause);
        if (!task) throw RunError("a thread of the run was ended by pthread_exit() or pthread_cancel()");
        throw FrameError(*task, stage, replica, frame, cause ? cause : thread_ended());
    }

  private:
    static std::exception_ptr thread_ended() {
        return std::make_exception_ptr(
            RunError("its thread was ended by pthread_exit() or pthread_cancel(): return from it instead"));
    }
};

}  // namespace tidemill
