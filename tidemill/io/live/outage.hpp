#pragma once

#include <cstdint>

namespace tidemill::io {

/// The time without a source that has vanished: when it is tried again, after pauses that grow, and what is
/// missing by the clock on the wall, of which a second at most is given out as silence: no lock lasts longer.
class Outage {
  public:
    /// `last_came_ns`: when its last samples came; `now_ns`: when it was missed.
    Outage(double sample_rate_hz, std::int64_t last_came_ns, std::int64_t now_ns);

    /// Nanoseconds to wait for; not above 0: it is time to try.
    std::int64_t until_try_ns(std::int64_t now_ns) const { return next_try_ns_ - now_ns; }
    void tried_in_vain(std::int64_t now_ns);

    struct Missing {
        std::uint64_t samples = 0;
        std::uint64_t silence = 0;  ///< of these, to be given out
    };
    /// Since the last call.
    Missing count(std::int64_t now_ns);

  private:
    double sample_rate_hz_;
    std::int64_t counted_ns_;  // up to which it is
    std::int64_t next_try_ns_;
    std::int64_t pause_ns_;
    double samples_ = 0;  // missing, fractions too
    double silence_ = 0;  // of these given out
};

}  // namespace tidemill::io
