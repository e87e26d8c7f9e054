#pragma once

#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/frequency_tracker.hpp"
#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

namespace tidemill::dvbs2::internal {

/// What the known symbols of frames in a row tell: the carrier's frequency, and how good headers are.
class FrameLearner {
  public:
    /// The scrambler tells the pilots' values.
    explicit FrameLearner(const PlScrambler& scrambler) : scrambler_(&scrambler) {}

    /// Begins anew with a first header.
    void begin(const HeaderHit& hit);

    /// Learns from a frame and, where it adjoins, from the header of the next.
    void learn(const SymbolStore& kept, const FoundFrame& frame, const FoundFrame& next);

    const FrequencyTracker& tracker() const { return tracker_; }
    double frequency() const { return tracker_.frequency(); }
    /// Mean quality of the good headers.
    double quality() const { return quality_; }

    /// What it holds goes into a checkpoint, and comes back from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("tracker", tracker_)("quality", quality_);
    }

  private:
    double esn0() const;

    const PlScrambler* scrambler_;
    FrequencyTracker tracker_;
    double quality_ = 0;
    std::vector<FrequencyTracker::Block> blocks_;
    std::vector<Iq> upright_;
};

}  // namespace tidemill::dvbs2::internal
