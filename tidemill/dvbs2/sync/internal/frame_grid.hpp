#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

namespace tidemill::dvbs2::internal {

/// The frames of a signal as they lie in the samples that were received: each begins where one ends, and
/// where one begins too early, samples are missing. That is known modulo a frame, and reported as soon as the
/// clock has come to rest behind the place.
class FrameGrid {
  public:
    /// The next frame of the same signal whose header was recognised. Returns what was found to be missing.
    MissingSymbols step(const HeardSymbols& heard, const FoundFrame& frame);

    /// No frame of the signal follows for now: returns what was to be reported later.
    MissingSymbols settle() { return settle(before_at_); }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("before", before_)("before_at", before_at_)("period", period_)("learned", learned_);
        archive("kinds", kinds_)("broken", broken_);
    }

  private:
    /// Where a frame began too early.
    struct Break {
        double before_at = 0;  // of the last frame before,
        double frame = 0;      // which is so long;
        double place = 0;      // behind it something may be missing;
        double behind_at = 0;  // of the first frame behind
        double sent = 0;       // from the former to the latest frame behind, at the least
        std::uint64_t doubtful = 0;
        std::uint64_t behind = 0;  // frames that follow the first one: without any it may be none itself
    };

    MissingSymbols go_on(const HeardSymbols& heard, const FoundFrame& frame, double at);
    MissingSymbols begin_to_learn(const HeardSymbols& heard, const FoundFrame& frame, double places);
    MissingSymbols settle(double at);
    double longest_known() const;
    bool is_near(double places) const;
    bool is_within_reach(double places) const;
    double sent_at_least(double places) const;
    void learn(double sent, double places);
    void know(int length);

    FoundFrame before_;
    double before_at_ = 0;    // places are those of SymbolPositions
    double period_ = 1;       // of a symbol that was sent, in places,
    double learned_ = 0;      // from so many of these
    std::vector<int> kinds_;  // lengths of frames that there were, the latest last
    std::optional<Break> broken_;
};

}  // namespace tidemill::dvbs2::internal
