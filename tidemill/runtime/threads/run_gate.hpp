#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/making_process.hpp"

namespace tidemill {

/// Whether something runs, for waits on its end, and for its destruction.
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

    /// Part of a run that a thread holds while this lives: if a task calls exit(), the thread does not come
    /// back to hand it on.
    class Part {
      public:
        explicit Part(std::function<void()> give_up) : give_up_(std::move(give_up)), outer_(here_) {
            here_ = this;
        }
        ~Part() { here_ = outer_; }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;

        /// Gives up all that this thread holds; what holds them must not be used again.
        static void give_up_all();

      private:
        inline static thread_local Part* here_ = nullptr;

        std::function<void()> give_up_;
        Part* outer_;
    };

    RunGate();
    ~RunGate();
    RunGate(const RunGate&) = delete;
    RunGate& operator=(const RunGate&) = delete;

    /// Throws RunError, saying that `call` waits for the run, where the run would have to wait for itself, or
    /// runs in the process that this one was forked from.
    void check_may_wait(std::string_view call) const;

    void wait_until_over();

    /// For the destruction of what runs: stops it and waits for its end. False where nobody can wait for
    /// that, since this thread works for it (exit() in a task) or the process was forked: then what runs must
    /// be left as it is. This thread gives up what it holds, so that the others can end.
    bool end();

  private:
    struct State;

    std::unique_ptr<State> state_;
    MakingProcess process_;
};

}  // namespace tidemill
