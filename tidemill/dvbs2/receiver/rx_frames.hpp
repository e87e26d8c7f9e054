#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tidemill/dvbs2/receiver/raw_block.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Cuts the symbols into PLFRAMEs; dummy frames end here.
class RxFrameSync final : public Module {
  public:
    RxFrameSync(const PlScrambler& scrambler, bool live) : Module("frame_sync"), sync_(scrambler, live) {}

    In<SymbolBlock> symbols = in<SymbolBlock>("symbols");
    Out<Iq> frame = out<Iq>("frame", kFrameBufferSymbols);
    Label<FrameInfo> info = label<FrameInfo>("info");
    Out<std::uint8_t> gap =
        out<std::uint8_t>("gap");  // 1: symbols were lost between the frame before and this one
    Task cut = task("cut", &RxFrameSync::cut_frames, may_skip, may_repeat, at_end);

    const FrameSyncCounts& counts() const { return sync_.counts(); }
    /// Whether frames follow one another at the moment.
    bool locked() const { return locked_.load(std::memory_order_relaxed); }
    /// Times that frames were found, the first included; from any thread.
    std::uint64_t locks() const { return locks_.load(std::memory_order_relaxed); }

    void keep(Archive& archive) override {
        archive("sync", sync_)("repeating", repeating_)("expected_start", expected_start_);
        archive("missing", missing_);
        locked_.store(sync_.locked(), std::memory_order_relaxed);
        locks_.store(sync_.counts().locks, std::memory_order_relaxed);
    }

  private:
    Flow cut_frames(Frame f);

    FrameSync sync_;
    bool repeating_ = false;
    std::uint64_t expected_start_ = 0;
    MissingSymbols missing_{};  // found out since the last frame that was handed on
    std::atomic<bool> locked_{false};
    std::atomic<std::uint64_t> locks_{0};
};

}  // namespace tidemill::dvbs2
