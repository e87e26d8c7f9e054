#pragma once

#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/threads/run_gate.hpp"

namespace tidemill {

/// Checkpoints that other threads want of a stream while it runs: it pauses between two frames for them.
class CheckpointRequests {
  public:
    /// Waits for the next pause, and asks for one; nothing where no run goes on. Throws what keeping threw,
    /// and RunError when the run fails before.
    std::optional<Checkpoint> want();
    /// For the destruction of what runs: waits are refused.
    void refuse();
    /// Gate of the run.
    RunGate& gate() { return gate_; }

    /// For the run. Whether it should pause.
    bool any();
    /// It has paused; does nothing without wishes.
    void grant(const std::function<Checkpoint()>& take);

    /// The time in which a run goes on.
    class Open {
      public:
        /// `pause` makes it stop between frames soon, `stop` for good; they may be called by any thread.
        Open(CheckpointRequests& wishes, std::function<void()> pause, std::function<void()> stop);
        /// Wishes that are left cannot be granted.
        ~Open();
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;

        /// There will be no other pause after that which grants the wishes that there are.
        void close(const std::function<Checkpoint()>& take);

      private:
        CheckpointRequests& wishes_;
        RunGate::Open gate_;
    };

  private:
    RunGate gate_;
    std::mutex mutex_;  // guards what follows
    bool takes_wishes_ = false;
    std::function<void()> pause_;
    std::vector<std::promise<Checkpoint>> wishes_;
};

}  // namespace tidemill
