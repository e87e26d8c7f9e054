#include "tidemill/runtime/threads/run_error.hpp"

#include <fmt/format.h>

namespace tidemill {

FrameError::FrameError(std::string task, std::size_t stage, std::size_t replica, std::uint64_t frame,
                       std::exception_ptr cause)
    : RunError(fmt::format("task {} (stage {}, replica {}) failed at frame {}: {}", task, stage + 1,
                           replica + 1, frame, message_of(cause))),
      task_(std::move(task)),
      stage_(stage),
      replica_(replica),
      frame_(frame),
      cause_(std::move(cause)) {}

ModuleError::ModuleError(const std::string& module, const std::string& function,
                         const std::exception_ptr& cause)
    : RunError(fmt::format("module '{}' failed in {}(): {}", module, function, message_of(cause))) {}

}  // namespace tidemill
