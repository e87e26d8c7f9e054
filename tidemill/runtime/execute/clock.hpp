#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

/// A source whose frames are due one period after the other: `graph.add<Clock>(1ms)`. Where the stream is
/// late, frames that are due come at once; the run's options say whether such frames are dropped.
class Clock final : public Module {
  public:
    /// Throws GraphError when the period is not above 0.
    explicit Clock(std::chrono::nanoseconds period) : Module("clock"), period_(period) {
        if (period.count() > 0) return;
        throw GraphError(fmt::format("a clock with a period of {} ns: give more than 0", period.count()));
    }

    /// Its only state is the time at which the run began.
    static constexpr bool kHoldsNothing = true;
    void begin(const Run& /*run*/) override { start_.reset(); }

    Out<std::uint64_t> tick = out<std::uint64_t>("tick");  ///< periods since frame 0
    Task wait = task("wait", &Clock::run, may_wait);

  private:
    using Steady = std::chrono::steady_clock;

    void run(Frame f) {
        const auto since_frame_0 = static_cast<std::int64_t>(f.number()) * period_;
        if (!start_) start_ = Steady::now() - since_frame_0;
        f[tick][0] = f.number();
        const Steady::time_point due = *start_ + since_frame_0;
        // By pieces: a run may be asked to end before the frame is due.
        while (!f.stopping() && Steady::now() < due)
            std::this_thread::sleep_until(
                std::min<Steady::time_point>(due, Steady::now() + std::chrono::milliseconds(20)));
    }

    std::chrono::nanoseconds period_;
    std::optional<Steady::time_point> start_{};
};

}  // namespace tidemill
