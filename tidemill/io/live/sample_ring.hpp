#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tidemill/io/live/gap_log.hpp"
#include "tidemill/io/live/live_source.hpp"

namespace tidemill::io {

/// How a ring between a source and its reader is laid out.
struct RingConfig {
    double seconds = 0.5;  ///< of samples that it holds
    bool drops = false;    ///< what finds it full is lost and counted; else the source waits
};

/// How full a ring is.
struct RingFill {
    std::uint64_t capacity = 0;  ///< in samples, like the others
    std::uint64_t filled = 0;
    std::uint64_t most_filled = 0;
};

/// Takes a live source's samples by a thread of its own, so that the reader may be late by as much as the
/// ring holds. What is lost is given out as silence of the same length.
class SampleRing final : public LiveSource {
  public:
    explicit SampleRing(std::unique_ptr<LiveSource> source, const RingConfig& config = {});
    SampleRing(const SampleRing&) = delete;
    SampleRing& operator=(const SampleRing&) = delete;
    ~SampleRing() override;

    dsp::SampleFormat format() const override { return source_->format(); }
    std::optional<double> sample_rate_hz() const override { return source_->sample_rate_hz(); }

    /// The source's; from then on its samples are taken.
    bool begin() override;
    void end() noexcept override;

    std::vector<SourceControl> controls() const override { return source_->controls(); }
    void control(std::size_t index, double value) override { source_->control(index, value); }

    /// Waits for a sample. What the source threw is thrown behind the samples before it.
    std::size_t read(std::span<std::byte> to) override;
    /// The same, but 0 also where nothing came within `patience`.
    std::size_t read(std::span<std::byte> to, std::chrono::milliseconds patience);

    /// Counts samples that an earlier run of this stream missed between its end and this one, by the clock on
    /// the wall. Call it before the first read.
    void missed_before(std::uint64_t samples);
    /// The source's, what found the ring full, and what was missed before.
    SampleLosses losses() const override;
    /// Where these lie, the latest of them; from any thread.
    std::vector<SampleGap> latest_gaps() const;
    std::string trouble() const override { return source_->trouble(); }
    std::optional<double> center_frequency_hz() const override { return source_->center_frequency_hz(); }
    std::string remarks() const override { return source_->remarks(); }
    RingFill fill() const;
    /// Whether what finds it full is lost: else the source waits.
    bool loses() const { return config_.drops; }
    /// Whether more than half of the ring waits: samples come faster than they are read. From any thread.
    bool is_half_full() const;
    /// The same where what finds it full will be lost.
    bool is_short_of_time() const { return config_.drops && is_half_full(); }
    /// Where samples were lost, also what waits is lost, and counted with `read_before` more that were read
    /// and are not used; returns whether that was so. By the reading thread.
    bool skip_behind_gap(std::uint64_t read_before);
    /// Samples that were skipped so, silence included: the reader has begun behind them. From any thread.
    std::uint64_t skipped() const;
    /// For how long the reader has waited for samples, with the wait that lasts. From any thread.
    std::chrono::nanoseconds waited() const;
    /// For how long nothing has come; 0 while samples wait, before the first, and behind the end.
    std::chrono::nanoseconds silent_for() const;

  private:
    struct Gap {
        std::uint64_t at;  // byte of the stream before which it lies
        std::uint64_t bytes;
        bool is_counted = false;  // as a loss of this ring
    };
    using Lock = std::unique_lock<std::mutex>;

    void take();
    bool take_piece();
    std::span<std::byte> room();
    bool wait_for_room(Lock& lock);
    bool is_counted_silence(std::span<const std::byte> piece, const SampleLosses& lost);
    void lose(std::size_t bytes, bool is_new);
    template <class Wait>
    void wait_for_samples(Wait wait);
    bool has_some() const { return in_ != out_ || ended_ || unwanted_; }
    std::size_t give(std::span<std::byte> to);
    std::size_t give_silence(Gap& gap, std::span<std::byte> to);

    std::unique_ptr<LiveSource> source_;
    const RingConfig config_;
    std::size_t sample_bytes_ = 1;
    std::vector<std::byte> ring_;
    std::vector<std::byte> lost_piece_;  // what found no room

    mutable std::mutex mutex_;
    std::condition_variable came_, taken_;
    std::uint64_t in_ = 0, out_ = 0, most_ = 0;  // bytes that went through, and the most between
    std::deque<Gap> gaps_;
    SampleLosses lost_;
    std::uint64_t lost_by_source_ = 0;  // samples, up to the latest piece
    std::uint64_t silence_ = 0;         // of these, still to come as silence
    GapLog places_;
    std::uint64_t samples_came_ = 0;  // from the source, what was lost here and silence included
    std::uint64_t skipped_ = 0;       // of these
    std::chrono::steady_clock::time_point last_came_{};
    std::chrono::nanoseconds waited_{0};  // by the reader, in waits that are over
    std::optional<std::chrono::steady_clock::time_point> waits_since_{};
    bool ended_ = false;     // by the source
    bool unwanted_ = false;  // by end()
    std::exception_ptr failure_;
    std::jthread thread_;  // the last to begin, the first to end
};

}  // namespace tidemill::io
