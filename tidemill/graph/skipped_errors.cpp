#include "tidemill/graph/skipped_errors.hpp"

#include <exception>
#include <utility>

namespace tidemill {

namespace {

std::string text_of_current_exception() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "something that is no std::exception";
    }
}

}  // namespace

void SkippedErrors::add(const std::string& task, std::uint64_t frame) {
    std::string text = text_of_current_exception();
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
    } catch (...) {
        self.errors_.add(self.task_, frame.number());
        return Flow::skip;
    }
}

}  // namespace tidemill
