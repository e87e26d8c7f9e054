#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "tidemill/platform/inside_run.hpp"
#include "tidemill/platform/making_process.hpp"

namespace tidemill {

/// Whether something runs, for those who wait for its end, and for who destroys it.
class RunGate {
  public:
    /// The time in which it runs, on the thread that makes this.
    class Open {
      public:
        /// `stop` makes the run end soon; it may be called by any thread.
        Open(RunGate& gate, std::function<void()> stop);
        ~Open();
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;

      private:
        RunGate& gate_;
        InsideRun inside_;
    };

    RunGate();
    ~RunGate();
    RunGate(const RunGate&) = delete;
    RunGate& operator=(const RunGate&) = delete;

    /// Throws RunError, saying that `call` waits for the run, where the run would have to wait for itself, or
    /// runs in the process that this one was forked from.
    void check_may_wait(std::string_view call) const;

    void wait_until_over();

    /// For who destroys what runs: stops it and waits for its end. False where nobody can wait for that, since
    /// this thread works for it (exit() in a task) or the process was forked: then what runs must be left as it
    /// is.
    bool end();

  private:
    struct State;

    std::unique_ptr<State> state_;
    MakingProcess process_;
};

}  // namespace tidemill
