#pragma once

#include <algorithm>
#include <optional>

namespace tidemill::cli {

/// The signal's clock beside the one on the wall: when what came at a moment of the signal has to leave. What
/// is late leaves at once, but never more together than `burst_s` of the signal; of a recording the rest of
/// the delay is made up slowly. A pause of more than kMostPause_s, or a time that runs backwards, is left
/// out.
class SignalPace {
  public:
    static constexpr double kMostPause_s = 1;  // as between two passes of a satellite in one recording
    static constexpr double kMostBurst_s = 0.01;

    explicit SignalPace(bool live = false) : live_(live) {}

    /// `speed`: of the signal's clock; above 1 where more of the signal waits than need be.
    double due(double signal_s, double now_s, double speed = 1, double burst_s = kMostBurst_s) {
        constexpr double kCatchUp = 1.1, kMostDelay_s = 0.5;
        if (!last_) last_ = {signal_s, now_s};
        double step_s = signal_s - last_->signal_s;
        if (!(step_s >= 0 && step_s <= kMostPause_s)) step_s = 0;
        const double faster = std::max(speed, delay_s_ > 0 ? kCatchUp : 1.0);
        const double due_s = last_->wall_s + step_s / faster;
        delay_s_ = std::max(delay_s_ - step_s * (1 - 1 / faster), 0.0);
        const double earliest_s = now_s - std::min(burst_s, kMostBurst_s);
        if (due_s < earliest_s && !live_) delay_s_ = std::min(delay_s_ + earliest_s - due_s, kMostDelay_s);
        last_ = {signal_s, std::max(due_s, earliest_s)};
        return last_->wall_s;
    }

  private:
    struct Moment {
        double signal_s;
        double wall_s;
    };

    bool live_;  // what is late has come late
    std::optional<Moment> last_{};
    double delay_s_ = 0;  // that is still to be made up
};

/// How fast the signal's clock has to run where so much of a live signal waits: as fast as it comes, but
/// faster where more is there than comes by chance.
inline double pace_of_live(double waiting_s, double frame_s) {
    constexpr double kChance_s = 0.1;
    return std::max(1.0, waiting_s / std::max(kChance_s, 2 * frame_s));
}

}  // namespace tidemill::cli
