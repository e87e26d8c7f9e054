#pragma once

#include <cstdint>
#include <span>

#include "tidemill/io/live/live_clock.hpp"
#include "tidemill/loopback/loopback_receiver.hpp"

namespace tidemill::loopback {

/// The sending side: samples leave at their rate. Where none is there in time, silence leaves instead, and
/// that is counted.
class LoopbackSender {
  public:
    LoopbackSender(const LoopbackOptions& options, double sample_rate_hz, SharedAir& air,
                   io::LiveClock& clock)
        : options_(options), sample_rate_hz_(sample_rate_hz), air_(air), clock_(clock) {}

    /// Takes samples as there is room for them, waiting for it no longer than given. `last`: nothing has to
    /// follow for a while.
    ReadOutcome write(std::span<const dsp::Iq> samples, bool last, std::int64_t wait_ns);

    /// Underflows that were not reported yet, one by one.
    ReadOutcome status();

  private:
    std::uint64_t left() const;
    std::uint64_t room();
    void look_at_clock();

    LoopbackOptions options_;
    double sample_rate_hz_;
    SharedAir& air_;
    io::LiveClock& clock_;
    bool streams_ = false;    // samples have to follow
    std::uint64_t next_ = 0;  // the sample that is written next
    std::uint64_t underflows_ = 0;
    std::int64_t underflow_ns_ = 0;
};

}  // namespace tidemill::loopback
