#pragma once

#include <cmath>

namespace tidemill::os {

/// The share of the time that something held, of which the last 32 ms count as much as all before them.
class DecayingShare {
  public:
    /// Since the last call it held to that degree, 0 to 1.
    void advance(double now_s, double degree) {
        if (now_s == since_s_) return;
        value_ = degree + (value_ - degree) * std::exp2((since_s_ - now_s) / kHalfLife_s);
        since_s_ = now_s;
    }
    void start(double now_s, double value) {
        value_ = value;
        since_s_ = now_s;
    }
    /// At the last call.
    double value() const { return value_; }

  private:
    static constexpr double kHalfLife_s = 0.032;

    double value_ = 0;
    double since_s_ = 0;
};

}  // namespace tidemill::os
