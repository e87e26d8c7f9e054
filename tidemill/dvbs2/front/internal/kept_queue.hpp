#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace tidemill::dvbs2 {

/// A queue of large blocks that uses their memory again: pushing allocates only while it grows.
template <class Block>
class KeptQueue {
  public:
    /// A block at the end; what it holds is left over from an earlier one.
    Block& push() {
        if (spare_.empty()) spare_.push_back(std::make_unique<Block>());
        kept_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        return *kept_.back();
    }

    Block& front() { return *kept_.front(); }

    /// Takes `count` blocks away from the front.
    void pop(std::size_t count = 1) {
        for (; count > 0; --count) {
            spare_.push_back(std::move(kept_.front()));
            kept_.pop_front();
        }
    }

  private:
    std::deque<std::unique_ptr<Block>> kept_;
    std::vector<std::unique_ptr<Block>> spare_;
};

}  // namespace tidemill::dvbs2
