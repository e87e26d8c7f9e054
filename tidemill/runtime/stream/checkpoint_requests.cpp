#include "tidemill/runtime/stream/checkpoint_requests.hpp"

#include <exception>
#include <utility>

#include "tidemill/base/guard.hpp"

namespace tidemill {

std::optional<Checkpoint> CheckpointRequests::want() {
    std::future<Checkpoint> answer;
    std::function<void()> pause;
    {
        const std::lock_guard lock(mutex_);
        if (!takes_wishes_) return std::nullopt;
        answer = wishes_.emplace_back().get_future();
        pause = pause_;
    }
    pause();
    return answer.get();
}

void CheckpointRequests::refuse() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    takes_wishes_ = false;
    const auto destroyed =
        std::make_exception_ptr(RunError("the executor was destroyed while its run was going on"));
    for (auto& wish : std::exchange(wishes_, {})) wish.set_exception(destroyed);
}

bool CheckpointRequests::any() {
    const std::lock_guard lock(mutex_);
    return !wishes_.empty();
}

void CheckpointRequests::grant(const std::function<Checkpoint()>& take) {
    const std::lock_guard lock(mutex_);
    if (wishes_.empty()) return;
    std::vector<std::promise<Checkpoint>> wishes = std::exchange(wishes_, {});
    Checkpoint taken;
    const auto failure = internal::thrown_by([&] { taken = take(); });
    for (auto& wish : wishes) failure ? wish.set_exception(failure) : wish.set_value(taken);
}

CheckpointRequests::Open::Open(CheckpointRequests& wishes, std::function<void()> pause,
                               std::function<void()> stop)
    : wishes_(wishes), gate_(wishes.gate_, std::move(stop)) {
    const std::lock_guard lock(wishes_.mutex_);
    wishes_.takes_wishes_ = true;
    wishes_.pause_ = std::move(pause);
}

void CheckpointRequests::Open::close(const std::function<Checkpoint()>& take) {
    {
        const std::lock_guard lock(wishes_.mutex_);
        wishes_.takes_wishes_ = false;
    }
    wishes_.grant(take);
}

CheckpointRequests::Open::~Open() {
    const auto failed = []() -> Checkpoint {
        throw RunError("the run has failed: what its modules hold now is no state to go on from");
    };
    close(failed);
}

}  // namespace tidemill
