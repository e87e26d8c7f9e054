#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

namespace tidemill::dvbs2::internal {

/// The account of a stream of symbols: each is in a delivered frame, outside, or not yet settled.
class FrameLedger {
  public:
    void take_in(std::size_t symbols) { counts_.symbols += symbols; }
    void lock() { ++counts_.locks; }
    void slip() { ++counts_.slips; }

    void deliver(const FoundFrame& frame) {
        leave_outside(frame.start);
        settled_ = std::max(settled_, frame.end());
        ++counts_.frames;
        counts_.dummy_frames += frame.pls.is_dummy() ? 1 : 0;
        counts_.bad_headers += frame.good ? 0 : 1;
    }

    /// Symbols that are not settled before this place are in no frame.
    void leave_outside(std::uint64_t until) {
        if (until <= settled_) return;
        counts_.symbols_outside += until - settled_;
        settled_ = until;
    }

    const FrameSyncCounts& counts() const { return counts_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("settled", settled_)("counts", counts_);
    }

  private:
    std::uint64_t settled_ = 0;  // every symbol before is counted
    FrameSyncCounts counts_;
};

}  // namespace tidemill::dvbs2::internal
