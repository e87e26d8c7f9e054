#include "tidemill/runtime/execute/dropped_frames.hpp"

namespace tidemill {

void DroppedFrames::add(std::uint64_t frame) {
    ++count_;
    if (!journal_) return;
    if (untold_.end() != frame) pass();
    if (untold_.frames == 0) untold_.frame = frame;
    ++untold_.frames;
}

void DroppedFrames::tell() {
    journal_->dropped(untold_.frame, untold_.frames);
    untold_.frames = 0;
}

}  // namespace tidemill
