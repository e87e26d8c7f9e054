#pragma once

#include <cmath>
#include <optional>

namespace tidemill::cli {

/// A time stamp, and whether it does not follow the one before.
struct SignalStamp {
    double at_s = 0;
    bool jumps = false;
};

/// Time stamps of packets by the clock of the signal that they came in: even, whenever the receiver is done
/// with them. Where the signal's time stands still or jumps against the clock on the wall, as when the signal
/// was away, they jump once and go on.
class SignalStamps {
  public:
    SignalStamp at(double signal_s, double wall_s) {
        constexpr double kJumpS = 0.5;  // no frame is late by so much
        if (!last_) begin_s_ = signal_s;
        const double slip = last_ ? (wall_s - last_->wall_s) - (signal_s - last_->signal_s) : 0;
        last_ = {signal_s, wall_s};
        const bool jumps = std::abs(slip) > kJumpS;
        if (jumps) begin_s_ -= slip;
        return {signal_s - begin_s_, jumps};
    }

  private:
    struct Moment {
        double signal_s;
        double wall_s;
    };

    std::optional<Moment> last_{};
    double begin_s_ = 0;  // of the stamps, in the signal's time
};

}  // namespace tidemill::cli
