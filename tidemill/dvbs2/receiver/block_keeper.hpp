#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/graph/task.hpp"

namespace tidemill::dvbs2 {

/// Keeps the blocks of a stream for an object that decides from scalars which of them are of use.
///
/// It is the body of a task that may skip and repeat: every block released is one frame emitted, and after
/// the end-of-stream mark come the blocks that are released at last, then the mark.
template <class Block>
class BlockKeeper {
  public:
    /// What a task emits.
    enum class Emitted { kept, input, mark };

    /// One call of the task. `decide()` is asked once per input block, `finish()` once at the mark;
    /// `copy(Block&)` saves the input, and `emit(Emitted, const Block*)` fills the outputs.
    template <class Decide, class Finish, class Copy, class Emit>
    Flow step(bool end_of_stream, Decide decide, Finish finish, Copy copy, Emit emit) {
        if (!std::exchange(repeating_, false)) {
            const KeptBlocks decision = end_of_stream ? finish() : decide();
            if (!end_of_stream && kept_.empty() && decision.drop == 0 && decision.release == 1) {
                emit(Emitted::input, nullptr);
                return Flow::ok;
            }
            if (!end_of_stream) copy(keep());
            settle(decision);
        }
        if (release_ == 0) {
            if (!end_of_stream) return Flow::skip;
            emit(Emitted::mark, nullptr);
            return Flow::ok;
        }
        emit(Emitted::kept, kept_.front().get());
        discard_oldest();
        repeating_ = --release_ > 0 || end_of_stream;
        return repeating_ ? Flow::again : Flow::ok;
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
    bool repeating_ = false;
    std::uint64_t dropped_ = 0;
};

}  // namespace tidemill::dvbs2
