#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/io/live/live_clock.hpp"
#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/outage.hpp"

namespace tidemill::io {

/// A source that others hand out and take away, as a connection does that breaks off: once it has given
/// samples, its end or failure is an outage, and it is opened again, with what was changed of it. The time
/// without it is counted by the clock on the wall.
class ReopenedSource final : public LiveSource {
  public:
    using Open = std::function<std::unique_ptr<LiveSource>()>;

    /// Opens it a first time; throws IoError as `open` does. Its sample rate is known.
    ReopenedSource(std::string place, Open open,
                   std::unique_ptr<LiveClock> clock = std::make_unique<LiveClock>());

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    bool begin() override { return source_->begin(); }

    /// Throws IoError, or ends, as the source does that has not given a sample yet.
    std::size_t read(std::span<std::byte> to) override;
    void end() noexcept override;

    std::vector<SourceControl> controls() const override { return controls_; }
    void control(std::size_t index, double value) override;
    SampleLosses losses() const override;
    std::string trouble() const override;

  private:
    std::size_t read_source(std::span<std::byte> to);
    std::size_t take(std::span<const std::byte> samples);
    std::size_t give_silence(std::span<std::byte> to);
    std::size_t give_kept(std::span<std::byte> to);
    void vanish();
    void look_for_it();
    bool open_again();
    void count_outage();
    void replace(std::unique_ptr<LiveSource> source);

    const std::string place_;
    const Open open_;
    const std::unique_ptr<LiveClock> clock_;
    std::mutex mutex_;                    // for the threads that change or end the source
    std::unique_ptr<LiveSource> source_;  // null while it is gone
    std::map<std::size_t, double> changed_{};
    const dsp::SampleFormat format_;
    const double sample_rate_hz_;
    const std::vector<SourceControl> controls_;
    std::optional<Outage> outage_{};  // until samples come again
    std::uint64_t silence_ = 0;       // samples that are still to be given out
    std::vector<std::byte> kept_{};   // samples behind them
    bool any_came_ = false;
    std::int64_t last_came_ns_ = 0;
    std::atomic<bool> is_gone_{false};
    std::atomic<std::uint64_t> gaps_{0}, missing_{0};
};

}  // namespace tidemill::io
