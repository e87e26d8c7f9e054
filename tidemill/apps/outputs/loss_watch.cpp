#include "tidemill/apps/outputs/loss_watch.hpp"

#include <utility>

namespace tidemill::cli {

void LossWatch::frame(bool gap) {
    const std::uint64_t run = run_.load(std::memory_order_relaxed);
    run_.store(gap ? 1 : run + 1, std::memory_order_relaxed);
    frames_.fetch_add(1, std::memory_order_relaxed);
    // Pairs with the acquire of look(): a thread that sees the loss knows that the run has begun anew.
    if (gap && run >= kSolidFrames) heard_.fetch_add(1, std::memory_order_release);
}

std::uint64_t LossWatch::look(bool locked) {
    std::uint64_t losses = 0;
    if (const std::uint64_t heard = heard_.load(std::memory_order_acquire); heard > noticed_) {
        losses = heard - std::exchange(noticed_, heard);
        in_lock_ = false;
    }
    const std::uint64_t frames = frames_.load(std::memory_order_relaxed);
    if (expects_gap()) {
        if (locked && frames > frames_then_ + kFramesOfNoLoss) {
            --noticed_;
            in_lock_ = true;
        }
        return losses;
    }
    if (!in_lock_) {
        in_lock_ = run_.load(std::memory_order_relaxed) >= kSolidFrames;
    } else if (!locked) {
        in_lock_ = false;
        ++noticed_;
        ++losses;
        frames_then_ = frames;
    }
    return losses;
}

}  // namespace tidemill::cli
