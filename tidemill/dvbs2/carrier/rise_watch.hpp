#pragma once

#include <algorithm>

namespace tidemill::dvbs2 {

/// Whether something that is measured again and again, as noise is, has risen at once.
class RiseWatch {
  public:
    /// Takes the next value; true, and begun anew, where this one and that before it stand out.
    bool has_risen(double value) {
        if (seen_ < kSeen || value < kRise * mean_) {
            seen_ = std::min(seen_ + 1, kRemembered);
            mean_ += (value - mean_) / seen_;
            high_ = 0;
        } else if (++high_ == kHigh) {
            *this = {};
            return true;
        }
        return false;
    }

  private:
    // The power of the 90 symbols of a header is known within a tenth: two in a row stand out so by chance
    // once in 300,000 headers.
    static constexpr double kRise = 1.35;
    static constexpr int kHigh = 2;
    static constexpr int kSeen = 8, kRemembered = 16;

    double mean_ = 0;
    int seen_ = 0;
    int high_ = 0;
};

}  // namespace tidemill::dvbs2
