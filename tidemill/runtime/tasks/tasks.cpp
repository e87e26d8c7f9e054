#include "tidemill/runtime/tasks/tasks.hpp"

#include <fmt/format.h>

#include "tidemill/runtime/tasks/runtime.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

TaskError::TaskError(const std::string& type, std::uint64_t number, std::exception_ptr cause)
    : TasksError(fmt::format("task {} spawned at {} failed: {}", number, type,
                             cause ? message_of(cause) : "it ended its thread; return from it instead")),
      type_(type),
      number_(number),
      cause_(std::move(cause)) {}

Tasks::Tasks(TasksOptions options) : runtime_(std::make_unique<Runtime>(std::move(options))) {}
Tasks::~Tasks() {
    if (!runtime_->can_end()) runtime_.release();
}

TaskType Tasks::type(std::string name, policy::KindSet kinds) {
    return runtime_->type(std::move(name), kinds);
}
TaskType Tasks::type_at(const std::source_location& place) {
    return runtime_->type_at(place);
}
internal::TaskBody* Tasks::begin_spawn(TaskType type, std::span<const Access> accesses, bool adds_to_parts) {
    return runtime_->begin_spawn(type, accesses, adds_to_parts);
}
void Tasks::finish_spawn(TaskType type, std::span<const Access> accesses, std::int32_t priority) {
    runtime_->finish_spawn(type, accesses, priority);
}
void Tasks::next_iteration() {
    runtime_->next_iteration();
}
TasksReport Tasks::wait() {
    return runtime_->wait();
}
void Tasks::cancel() {
    runtime_->cancel();
}
std::vector<RunningTask> Tasks::running(std::chrono::milliseconds at_least) const {
    return runtime_->running(at_least);
}
std::size_t Tasks::most_in_flight() const {
    return runtime_->most_in_flight();
}

}  // namespace tidemill
