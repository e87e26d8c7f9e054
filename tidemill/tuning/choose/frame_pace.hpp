#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill::internal {

/// Error of a measured period, besides the spread of its parts.
inline constexpr double kUnsure = 0.05;

/// When source frames begin, as the thread sees it that begins them.
class FramePace {
  public:
    void asked() {
        now_ = Clock::now();
        if (asked_++ == 0) start_ = now_;
    }

    std::uint64_t asked_so_far() const { return asked_; }
    double seconds() const { return std::chrono::duration<double>(now_ - start_).count(); }

    /// Period of so many frames that are all done now: the first took its time alone, the others came one
    /// period after the other.
    double period_us(std::uint64_t frames, double alone_us) const;

  private:
    using Clock = std::chrono::steady_clock;

    std::uint64_t asked_ = 0;
    Clock::time_point start_ = Clock::now();
    Clock::time_point now_ = start_;
};

/// How the first frames of the way that was chosen came: from that the others are predicted. The thread that
/// is asked begins one frame of `share`; so many may be in flight before it has to wait.
class FirstFrames {
  public:
    FirstFrames(double share, std::uint64_t in_flight) : share_(share), in_flight_(in_flight) {}

    void asked();

    /// Nothing while it is not over.
    std::optional<Forecast> forecast() const;

    /// Period of those that came later, until now.
    double later_period_us(std::uint64_t frames) const;

  private:
    using Clock = std::chrono::steady_clock;

    struct Part {
        std::uint64_t frames;
        Clock::time_point end;
    };

    static double period_us(const Part& from, const Part& to);

    double share_;
    std::uint64_t in_flight_;
    double asked_ = 0;
    bool is_over_ = false;
    std::vector<Part> parts_;
};

}  // namespace tidemill::internal
