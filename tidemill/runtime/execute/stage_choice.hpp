#pragma once

#include <functional>
#include <vector>

#include "tidemill/runtime/execute/stage_walk.hpp"
#include "tidemill/runtime/threads/bell.hpp"

namespace tidemill {

/// Choice of a thread that owns several stages: it goes on with the one furthest downstream whose turn has
/// come, so that frames leave before others begin, and waits where there is none, at one bell for all of
/// them.
class StageChoice {
  public:
    /// A step of each stage's walk, in the order of the stages.
    using Steps = std::vector<std::function<WalkStep()>>;

    explicit StageChoice(Steps stages) : stages_(std::move(stages)) {}

    /// Until the stream has ended at all stages. `waited` does what it gets, which waits, and may note it.
    /// The bell is that of the rings of all stages; nobody rings it where all wait actively.
    template <typename Threads, typename Waited>
    void run(Bell<Threads>& bell, WaitMode mode, Waited waited) {
        int looks = 0;
        while (!stages_.empty()) {
            if (goes_on()) {
                looks = 0;
            } else if (mode == WaitMode::active) {
                waited(
                    [&] { ++looks < Threads::kSpinBeforeYield ? Threads::relax() : Threads::yield_core(); });
            } else {
                bell.silence();
                if (!goes_on()) waited([&] { bell.wait(mode); });
            }
        }
    }

  private:
    // Whether there was something to do.
    bool goes_on() {
        for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
            const WalkStep step = (*stage)();
            if (step == WalkStep::over) stages_.erase(std::next(stage).base());
            if (step != WalkStep::waits) return true;
        }
        return false;
    }

    Steps stages_;
};

}  // namespace tidemill
