#pragma once

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

/// The largest drift that a carrier had, by magnitude, of means over frames in a row: one frame alone, and
/// the first ones of a lock, show it too roughly. Cycles per symbol squared.
class LargestDrift {
  public:
    /// Takes a frame's; `anew` where frames before it are missing.
    void take(double drift, bool anew) {
        if (anew) seen_ = 0;
        seen_ = std::min(seen_ + 1, kRemembered);
        mean_ += (drift - mean_) / seen_;
        if (seen_ >= kTelling) largest_ = std::max(largest_, std::abs(mean_));
    }

    double largest() const { return largest_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("mean", mean_)("seen", seen_)("largest", largest_);
    }

  private:
    static constexpr int kTelling = 8, kRemembered = 16;

    double mean_ = 0;
    int seen_ = 0;
    double largest_ = 0;
};

}  // namespace tidemill::dvbs2
