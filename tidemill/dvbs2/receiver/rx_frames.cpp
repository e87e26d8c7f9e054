#include "tidemill/dvbs2/receiver/rx_frames.hpp"

#include <limits>
#include <utility>

namespace tidemill::dvbs2 {

namespace {

constexpr auto kNowhere = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Flow RxFrameSync::cut_frames(Frame f) {
    if (!std::exchange(repeating_, false)) {
        if (f.at_end()) {
            sync_.flush();
        } else {
            const SymbolBlock& input = f[symbols][0];
            sync_.push({input.symbols.data(), input.count},
                       {.from = input.turned_from,
                        .frequency = input.frequency,
                        .found = input.restart,
                        .marks = std::span(input.mark).first(input.marks)});
        }
    }
    std::optional<FrameInfo> popped = sync_.pop(f[frame]);
    f[gap][0] = 0;
    while (popped) {
        f[gap][0] |= popped->start !=
                     std::exchange(expected_start_, popped->start + static_cast<unsigned>(popped->symbols));
        if (popped->missing.count > 0) missing_ = popped->missing;
        if (!popped->pls.is_dummy()) break;
        // By where it stands alone: it may have carried something.
        if (popped->header_quality == 0) expected_start_ = kNowhere;
        popped = sync_.pop(f[frame]);
    }
    if (!f.at_end()) locked_.store(sync_.locked(), std::memory_order_relaxed);  // an end is no loss
    locks_.store(sync_.counts().locks, std::memory_order_relaxed);
    if (!popped) return Flow::skip;
    popped->missing = std::exchange(missing_, {});
    f[info] = *popped;
    repeating_ = true;
    return Flow::again;
}

}  // namespace tidemill::dvbs2
