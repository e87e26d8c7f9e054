#pragma once

namespace tidemill {

/// While this lives, the thread that made it works for a run, also for all those that it worked for before.
/// Runs go by the addresses of what they are of. A waiter for a run asks first: a thread of the run would
/// wait for itself.
class InsideRun {
  public:
    explicit InsideRun(const void* run) : run_(run), outer_(here_) { here_ = this; }
    ~InsideRun() { here_ = outer_; }
    InsideRun(const InsideRun&) = delete;
    InsideRun& operator=(const InsideRun&) = delete;

    /// Whether this thread works for that run.
    static bool of(const void* run) {
        for (const InsideRun* each = here_; each; each = each->outer_)
            if (each->run_ == run) return true;
        return false;
    }

    /// The run that it was the last to begin to work for; null where there is none.
    static const void* innermost() { return here_ ? here_->run_ : nullptr; }

    /// While this lives, the thread works for the runs of another one, which waits for it.
    class Helper {
      public:
        explicit Helper(const InsideRun* runs) : before_(here_) { here_ = runs; }
        ~Helper() { here_ = before_; }
        Helper(const Helper&) = delete;
        Helper& operator=(const Helper&) = delete;

      private:
        const InsideRun* before_;
    };
    static const InsideRun* all() { return here_; }

  private:
    inline static thread_local const InsideRun* here_ = nullptr;

    const void* run_;
    const InsideRun* outer_;
};

}  // namespace tidemill
