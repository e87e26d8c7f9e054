#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::policy {

/// Holds the program back when the window is full. Gets every creation, completion and release of memory, by
/// one caller at a time.
class Throttle {
  public:
    /// Throws PolicyError for a window of nothing.
    explicit Throttle(const Window& window);

    /// Whether the next task may be created. It belongs to the iteration of the task before or to a later
    /// one, and takes `bytes`, until released. Memory is reserved for whole iterations, since an iteration
    /// begun must be able to end: give all of its bytes with its first task, and none with the others.
    bool admits(std::uint64_t iteration, std::uint64_t bytes = 0) const;

    void created(std::uint64_t iteration, std::uint64_t bytes = 0);
    void completed(std::uint64_t iteration);
    void released(std::uint64_t bytes) { bytes_ -= bytes; }

    std::uint64_t tasks() const { return tasks_; }
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t oldest_iteration() const { return oldest_; }

  private:
    std::uint32_t& unfinished(std::uint64_t iteration) {
        return unfinished_[iteration & (unfinished_.size() - 1)];
    }
    void make_room(std::uint64_t iteration);
    void pass_finished();

    Window window_;
    std::uint64_t tasks_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t oldest_ = 0;   // iteration with tasks in flight, or the one being created
    std::uint64_t current_ = 0;  // iteration being created
    std::vector<std::uint32_t> unfinished_ = std::vector<std::uint32_t>(16);  // tasks per iteration, a ring
};

}  // namespace tidemill::policy
