#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/carrier_frequency_tracker.hpp"
#include "tidemill/dvbs2/sync/internal/drift_watch.hpp"
#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

namespace tidemill::dvbs2::internal {

/// Estimates by the known symbols of frames in a row: the carrier's frequency, its drift where it has one,
/// and how good headers are.
class FrameLearner {
  public:
    /// The scrambler gives the pilots' values. What is `live` does not wait to be sure that headers alone
    /// show no drift.
    FrameLearner(const PlScrambler& scrambler, bool live) : scrambler_(&scrambler), live_(live) {}

    /// Begins anew with a first header.
    void begin(const HeardSymbols& heard, const FrameLead& lead);

    /// Learns from a frame and, where it adjoins, from the header of the next.
    void learn(const HeardSymbols& heard, const FoundFrame& frame, const FoundFrame& next);

    /// Whether what was learned showed a drift that was not known before: all frames that are still there
    /// should be learned again, after begin_again() with the first of them.
    bool has_found_drift() const { return found_drift_; }
    void begin_again(const HeardSymbols& heard, const FoundFrame& first);

    /// Whether it has learned from a frame since it began.
    bool has_learned() const { return learned_; }
    /// Whether the carrier is known as well as it will be.
    bool settled() const { return tracker_.settled() && sure_; }
    /// The carrier's frequency at a place beside what the front took out there, cycles per symbol.
    double frequency_at(const HeardSymbols& heard, std::uint64_t place) const;
    double sigma() const;
    /// Cycles per symbol squared; 0: none that need be known.
    double drift() const { return drift_; }
    /// Mean quality of the good headers.
    double quality() const { return quality_; }

    /// Makes of symbols from `place` on, derotated, what they would be if the carrier had kept the frequency
    /// that it had at `middle`.
    void derotate(const HeardSymbols& heard, std::uint64_t place, std::uint64_t middle,
                  std::span<Iq> symbols) const;

    /// By which share of their energy the symbols behind a header at `place` are those of a dummy frame.
    float dummy_quality(const HeardSymbols& heard, std::uint64_t place) const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("tracker", tracker_)("quality", quality_)("watch", watch_)("middle", middle_);
        archive("inverted", inverted_)("front", front_)("drift", drift_)("still", still_)("sure", sure_);
        archive("found_drift", found_drift_)("away", away_)("learned", learned_);
    }

  private:
    double esn0() const;
    void read_blocks(const HeardSymbols& heard, const FoundFrame& frame, const FoundFrame& next);
    double front_at(const HeardSymbols& heard, std::uint64_t place) const;
    void stand_at(const HeardSymbols& heard, std::uint64_t place);
    double moved_by(const HeardSymbols& heard, std::uint64_t place) const;
    void watch(const FoundFrame& frame);
    bool needs_headers(const FoundFrame& frame) const;
    void look_for_drift(const FoundFrame& frame);
    void add_headers(const FoundFrame& frame);
    void take_drift(double drift);
    std::optional<double> contradicted_by(const FoundFrame& frame) const;
    void follow_drift(const FoundFrame& frame);

    const PlScrambler* scrambler_;
    bool live_;
    CarrierFrequencyTracker tracker_;
    double quality_ = 0;
    std::vector<CarrierFrequencyTracker::Block> blocks_;
    std::vector<Iq> upright_;

    DriftWatch watch_;
    std::uint64_t middle_ = 0;  // where the carrier has the tracker's frequency
    double front_ = 0;          // what the front took out there, upright,
    double away_ = 0;           // and since when
    bool inverted_ = false;
    double drift_ = 0;          // cycles per symbol squared; 0 if it need not be known
    int still_ = 0;             // frames in a row of as good as none
    bool sure_ = false;         // whether there is one
    bool found_drift_ = false;  // by the last frame
    bool learned_ = false;      // from any
};

}  // namespace tidemill::dvbs2::internal
