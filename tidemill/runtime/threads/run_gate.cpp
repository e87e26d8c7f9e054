#include "tidemill/runtime/threads/run_gate.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

struct RunGate::State {
    std::mutex mutex;
    std::condition_variable over;
    std::function<void()> stop;  // of the run that goes on; none: there is none
    MakingProcess process;       // of that run
};

RunGate::RunGate() : state_(std::make_unique<State>()) {}

// A condition that somebody waited for when the process was forked cannot be destroyed.
RunGate::~RunGate() {
    if (!process_.is_here()) state_.release();
}

RunGate::Open::Open(RunGate& gate, std::function<void()> stop) : gate_(gate), inside_(&gate) {
    const std::lock_guard lock(gate_.state_->mutex);
    gate_.state_->stop = std::move(stop);
    gate_.state_->process = {};
}

RunGate::Open::~Open() {
    const std::lock_guard lock(gate_.state_->mutex);
    gate_.state_->stop = nullptr;
    gate_.state_->over.notify_all();
}

void RunGate::check_may_wait(std::string_view call) const {
    if (InsideRun::of(this)) {
        throw RunError(
            fmt::format("{} waits for the run, and was called by the run itself (a task, an observer, a "
                        "condition), which "
                        "would wait for ever: call it from another thread",
                        call));
    }
    const std::lock_guard lock(state_->mutex);
    if (!state_->stop || state_->process.is_here()) return;
    throw RunError(
        fmt::format("{} waits for a run that goes on in the process from which this one was forked", call));
}

void RunGate::Part::give_up_all() {
    while (Part* const part = here_) {
        here_ = part->outer_;
        internal::thrown_by(part->give_up_);
    }
}

void RunGate::wait_until_over() {
    std::unique_lock lock(state_->mutex);
    state_->over.wait(lock, [this] { return !state_->stop; });
}

bool RunGate::end() {
    if (!process_.is_here()) return false;
    if (InsideRun::of(this)) {
        {
            const std::unique_lock lock(state_->mutex, std::try_to_lock);
            if (lock && state_->stop) state_->stop();
        }
        Part::give_up_all();
        return false;
    }
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->stop) return true;
        state_->stop();
    }
    wait_until_over();
    return true;
}

}  // namespace tidemill
