#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A run that cannot be what it is asked to be: what, where, what to do.
class RunError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::usage; }
};

/// A task threw: which one, where, on which frame, and what it said. The frames before it were delivered.
class FrameError : public RunError {
  public:
    FrameError(std::string task, std::size_t stage, std::size_t replica, std::uint64_t frame,
               std::exception_ptr cause);

    Fault fault() const override { return Fault::job; }
    const std::string& task() const { return task_; }
    std::size_t stage() const { return stage_; }      ///< counted from 0
    std::size_t replica() const { return replica_; }  ///< counted from 0
    std::uint64_t frame() const { return frame_; }    ///< its number in the task's segment
    const std::exception_ptr& cause() const { return cause_; }

  private:
    std::string task_;
    std::size_t stage_;
    std::size_t replica_;
    std::uint64_t frame_;
    std::exception_ptr cause_;
};

/// A module threw where a run began or ended, or where it was to keep what it holds.
class ModuleError : public RunError {
  public:
    /// `function` is the one that threw.
    ModuleError(const std::string& module, const std::string& function, const std::exception_ptr& cause);

    Fault fault() const override { return Fault::job; }
};

}  // namespace tidemill
