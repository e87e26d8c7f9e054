#include "tidemill/dvbs2/sync/internal/frame_learner.hpp"

#include <algorithm>

namespace tidemill::dvbs2::internal {

void FrameLearner::begin(const HeaderHit& hit) {
    tracker_ = FrequencyTracker(hit.frequency);
    quality_ = hit.quality;
}

void FrameLearner::learn(const SymbolStore& kept, const FoundFrame& frame, const FoundFrame& next) {
    blocks_.assign(1, {0, header_references(frame.pls.code())});
    for (int block = 0; block < layout_of(frame.pls).pilot_blocks; ++block) {
        const int place = FrameLayout::pilot_start(block);
        blocks_.push_back({place, scrambler_->pilot_references().subspan(
                                      static_cast<std::size_t>(place - kHeaderSymbols), kPilotBlockSymbols)});
    }
    std::size_t count = static_cast<std::size_t>(frame.length);
    if (next.start == frame.end()) {
        blocks_.push_back({frame.length, header_references(next.pls.code())});
        count += kHeaderSymbols;
    }
    upright_.resize(count);
    for (const FrequencyTracker::Block& block : blocks_) {
        const auto place = static_cast<std::size_t>(block.place);
        const std::size_t symbols = block.references.size();
        copy_upright(kept.at(frame.start + place, symbols), frame.inverted,
                     std::span(upright_).subspan(place, symbols));
    }
    quality_ += 0.1 * (frame.quality - quality_);
    tracker_.learn(upright_, blocks_, esn0());
}

double FrameLearner::esn0() const {
    const double quality = std::clamp(quality_, 0.01, 0.99);
    return quality / (1 - quality);
}

}  // namespace tidemill::dvbs2::internal
