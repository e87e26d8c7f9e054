#pragma once

#include <atomic>
#include <cstdint>

namespace tidemill::cli {

/// Losses of lock, each reported once. Frames show it, the same however they are received, but only once the
/// signal is back; what the receiver is doing is known at once, but flickers, and depends on when one looks.
/// A loss that was seen in one way is not reported again when it comes in the other.
class LossWatch {
  public:
    /// So many frames one behind the other are a lock; a gap after fewer belongs to the loss before.
    static constexpr std::uint64_t kSolidFrames = 3;
    /// A loss after which so many frames came without a gap was none.
    static constexpr std::uint64_t kFramesOfNoLoss = 64;

    /// A frame has come. `gap`: it does not follow the one before. By the sink's thread.
    void frame(bool gap);

    /// How many losses there were since the last call. `locked`: as the receiver is now. By one thread.
    std::uint64_t look(bool locked);

  private:
    bool expects_gap() const { return noticed_ > heard_.load(std::memory_order_acquire); }

    std::atomic<std::uint64_t> heard_{0};  // losses by frames
    std::atomic<std::uint64_t> run_{0};    // frames since the last gap
    std::atomic<std::uint64_t> frames_{0};
    std::uint64_t noticed_ = 0;      // losses that were reported
    std::uint64_t frames_then_ = 0;  // when the last was
    bool in_lock_ = false;
};

}  // namespace tidemill::cli
