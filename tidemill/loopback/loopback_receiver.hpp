#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tidemill/io/live/live_clock.hpp"
#include "tidemill/loopback/loopback_options.hpp"
#include "tidemill/loopback/sample_feed.hpp"

namespace tidemill::loopback {

/// Result of a loopback's stream, in the words of SoapySDR's error numbers.
enum class Happened { samples, timeout, overflow, underflow, gone };

struct ReadOutcome {
    Happened happened = Happened::timeout;
    std::size_t samples = 0;
    std::int64_t time_ns = 0;  ///< of the first one, from the first of the stream on
};

/// The receiving side: samples come at their rate, however they are read. A late reader has lost some.
class LoopbackReceiver {
  public:
    struct Timing {
        double sample_rate_hz;
        std::int64_t epoch_ns;  ///< when sample 0 is, by the clock on the wall
        std::int64_t begun_ns;  ///< from when on the times count at which something is to happen
    };

    /// `air` learns how far its samples were read, where that sets the pace; it may be null.
    LoopbackReceiver(const LoopbackOptions& options, const Timing& timing, std::unique_ptr<SampleFeed> feed,
                     io::LiveClock& clock, SharedAir* air = nullptr);

    dsp::SampleFormat format() const { return feed_->format(); }

    /// The sample that is read next.
    std::uint64_t next() const { return next_; }

    /// From there on, samples of another feed, in the same format.
    void go_on_with(std::unique_ptr<SampleFeed> feed) { feed_ = std::move(feed); }

    /// Waits for samples, but no longer than given.
    ReadOutcome read(std::span<std::byte> to, std::int64_t wait_ns);

    /// Whether it is one of the times at which the radio is not there.
    bool is_unplugged() const;

  private:
    double now_s() const;
    double stream_s() const;
    std::uint64_t come() const;
    std::uint64_t samples_in(double time_s) const;
    std::int64_t time_ns(std::uint64_t sample) const;
    bool is_silent_until(double& end_s) const;
    bool wait_for(std::uint64_t samples, std::int64_t wait_ns);
    std::optional<std::uint64_t> wanted_loss(std::uint64_t& most);

    LoopbackOptions options_;
    Timing timing_;
    std::unique_ptr<SampleFeed> feed_;
    io::LiveClock& clock_;
    SharedAir* air_;
    std::uint64_t first_ = 0;  // sample of the stream
    std::uint64_t next_ = 0;   // the sample that is read next
    std::size_t overflows_done_ = 0;
};

}  // namespace tidemill::loopback
