#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/io/live/gap_finder.hpp"
#include "tidemill/io/live/live_clock.hpp"
#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/outage.hpp"
#include "tidemill/io/live/rtl_tcp.hpp"
#include "tidemill/io/live/soapy_stream.hpp"

namespace tidemill::io {

/// A radio through SoapySDR. What it lost is given out as silence: by the times that the radio gives, or,
/// where it gives none, estimated by the clock on the wall. A radio that vanishes is opened again, after
/// pauses that grow, with its settings; of the time without it, and of any other gap, a second at most is
/// given out as silence, and all of it is counted.
class SoapySource final : public LiveSource {
  public:
    SoapySource(const SoapyLibrary& library, std::string place, RadioSettings settings,
                std::unique_ptr<LiveClock> clock = std::make_unique<LiveClock>());
    ~SoapySource() override;

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }

    /// Opens the radio and sets it up; throws IoError. A radio that is still being opened when the end is
    /// wanted is left to a thread of its own, which closes it: the library must outlive that.
    bool begin() override;

    /// Throws IoError for a radio that never gives a sample, or comes back with another rate.
    std::size_t read(std::span<std::byte> to) override;

    void end() noexcept override { clock_->end(); }
    SampleLosses losses() const override { return {gaps_, lost_samples_, estimated_}; }
    std::string trouble() const override;

    /// The gain, where the radio reports its range. A value that it refuses later is trouble, and no more.
    std::vector<SourceControl> controls() const override;
    void control(std::size_t index, double value) override;

  private:
    struct OpenRadio;

    std::optional<double> open();
    std::size_t give_silence(std::span<std::byte> to);
    std::size_t give_kept(std::span<std::byte> to);
    std::size_t read_radio(std::span<std::byte> to);
    std::size_t take(std::span<std::byte> samples, std::optional<std::int64_t> time_ns);
    std::size_t nothing_came(const SoapyStream::Outcome& outcome);
    void lose(std::uint64_t samples, bool exact);
    void vanish(const std::string& why);
    void look_for_radio();
    void count_outage();
    void watch_for_zeros(std::span<const std::byte> samples);
    void adjust();

    const SoapyLibrary& library_;
    const std::string place_;
    RadioSettings settings_;
    RadioRange gain_range_{};
    std::atomic<double> wanted_gain_db_;
    double gain_db_;  // as it was set last
    std::atomic<bool> refuses_gain_{false};
    const std::unique_ptr<LiveClock> clock_;
    std::unique_ptr<SoapyDevice> radio_;
    std::unique_ptr<SoapyStream> stream_;  // null while the radio is gone
    dsp::SampleFormat format_ = dsp::SampleFormat::cf32;
    double sample_rate_hz_ = 0;
    std::optional<GapFinder> gaps_found_;
    std::optional<Outage> outage_;
    std::uint64_t silence_ = 0;    // samples that are still to be given out
    std::vector<std::byte> kept_;  // samples behind them
    std::size_t given_of_kept_ = 0;
    bool overflow_ = false;  // since the last samples
    std::int64_t last_came_ns_ = 0;
    std::atomic<bool> any_came_{false};
    std::atomic<bool> only_zeros_{true};
    std::atomic<bool> is_gone_{false};
    std::atomic<std::uint64_t> gaps_{0}, lost_samples_{0}, estimated_{0};
};

struct LiveRequest;

/// The system's radio of that place. Throws IoError.
std::unique_ptr<LiveSource> open_soapy(const LiveRequest& request);

}  // namespace tidemill::io
