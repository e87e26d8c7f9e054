#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/runtime/graph/task.hpp"

namespace tidemill::dvbs2 {

/// Keeps the blocks of a stream for an object that decides from scalars which of them are of use.
///
/// It is the body of a task that may skip and repeat and sees the end: every block released is one frame
/// emitted, and at the end come the blocks that are released at last.
template <class Block>
class BlockKeeper {
  public:
    /// One call of the task. `decide()` is asked once per input block; `copy(Block&)` saves the input, and
    /// `emit(const Block*)` fills the outputs from a block that was kept, or from the input where there is
    /// none.
    template <class Decide, class Copy, class Emit>
    Flow step(Decide decide, Copy copy, Emit emit) {
        if (release_ == 0) {
            const KeptBlocks decision = decide();
            if (kept_.empty() && decision.drop == 0 && decision.release == 1) {
                emit(nullptr);
                return Flow::ok;
            }
            copy(keep());
            settle(decision);
        }
        return release(emit);
    }

    /// One call at the stream's end; `finish()` is asked once.
    template <class Finish, class Emit>
    Flow end(Finish finish, Emit emit) {
        if (!std::exchange(ending_, true)) settle(finish());
        return release(emit);
    }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        std::uint64_t blocks = kept_.size();
        archive("blocks", blocks);
        if (archive.gives_back()) {
            kept_.clear();
            for (std::uint64_t i = 0; i < blocks; ++i) {
                kept_.push_back(std::make_unique<Block>());
                archive("block", *kept_.back());
            }
        } else {
            for (const auto& block : kept_) archive("block", *block);
        }
        archive("release", release_)("ending", ending_)("dropped", dropped_);
    }

    /// Blocks that were thrown away.
    std::uint64_t dropped() const { return dropped_; }

  private:
    Block& keep() {
        if (spare_.empty()) spare_.push_back(std::make_unique<Block>());
        kept_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        return *kept_.back();
    }

    template <class Emit>
    Flow release(Emit emit) {
        if (release_ == 0) return Flow::skip;
        emit(kept_.front().get());
        discard_oldest();
        return --release_ > 0 ? Flow::again : Flow::ok;
    }

    void settle(KeptBlocks decision) {
        dropped_ += decision.drop;
        for (std::uint32_t i = 0; i < decision.drop; ++i) discard_oldest();
        release_ = decision.release;
    }

    void discard_oldest() {
        spare_.push_back(std::move(kept_.front()));
        kept_.pop_front();
    }

    std::deque<std::unique_ptr<Block>> kept_;
    std::vector<std::unique_ptr<Block>> spare_;  // memory to use again
    std::uint32_t release_ = 0;
    bool ending_ = false;
    std::uint64_t dropped_ = 0;
};

}  // namespace tidemill::dvbs2
