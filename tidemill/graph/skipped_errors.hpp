#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tidemill/graph/task.hpp"

namespace tidemill {

/// What tasks with the word skip_errors threw on the frames of a run; written by any thread.
class SkippedErrors {
  public:
    struct OfTask {
        std::uint64_t frames = 0;
        std::uint64_t first_frame = 0;  ///< the least of their numbers
        std::string first{};            ///< what it threw there
    };

    /// Takes the exception that is being handled.
    void add(const std::string& task, std::uint64_t frame);

    /// Gives what was added since the last time, by the tasks' names.
    std::map<std::string, OfTask> take();

  private:
    std::mutex mutex_;
    std::map<std::string, OfTask> tasks_;
};

/// A call that ends a frame where the task throws. Stays where it was made.
class GuardedCall {
  public:
    /// `errors` outlives this.
    GuardedCall(const internal::BoundCall& inner, std::string task, SkippedErrors& errors)
        : inner_(inner), task_(std::move(task)), errors_(errors) {}
    GuardedCall(const GuardedCall&) = delete;
    GuardedCall& operator=(const GuardedCall&) = delete;

    /// What to call, with `code()`, in the task's stead.
    static Flow call(Module& module, const internal::TaskCode& code, Frame frame);
    internal::TaskCode code() const { return internal::code_that_points_to(*this); }

  private:
    internal::BoundCall inner_;
    std::string task_;
    SkippedErrors& errors_;
};

}  // namespace tidemill
