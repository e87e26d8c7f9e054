#include "tidemill/graph/skipped_errors.hpp"

#include <exception>
#include <utility>

#include <cxxabi.h>

#include "tidemill/error.hpp"

namespace tidemill {

void SkippedErrors::add(const std::string& task, std::uint64_t frame) {
    std::string text = message_of(std::current_exception());
    const std::lock_guard lock(mutex_);
    OfTask& of_task = tasks_[task];
    if (of_task.frames++ > 0 && of_task.first_frame < frame) return;
    of_task.first_frame = frame;
    of_task.first = std::move(text);
}

std::map<std::string, SkippedErrors::OfTask> SkippedErrors::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(tasks_, {});
}

Flow GuardedCall::call(Module& module, const internal::TaskCode& code, Frame frame) {
    GuardedCall& self = internal::pointed_to<GuardedCall>(code);
    try {
        return self.inner_(module, frame);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        self.errors_.add(self.task_, frame.number());
        return Flow::skip;
    }
}

}  // namespace tidemill
