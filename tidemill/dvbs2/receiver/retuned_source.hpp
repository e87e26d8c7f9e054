#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/carrier_survey.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/search/band_watch.hpp"
#include "tidemill/dvbs2/search/steady_stretches.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// The samples of a carrier that may move: to another place in the band, or to another symbol rate.
///
/// Watches the spectrum of the band by few of its samples. Where that changes, the samples from there on are
/// also kept for a while; when there are no frames in them where the receiver listens, but elsewhere, they
/// are given out again, tuned to there at as many samples a symbol as before. All this depends on the samples
/// alone, under any executor.
class RetunedSource final : public io::SampleSource {
  public:
    /// Place at which the carrier was found again.
    struct Move {
        double at_s = 0;  ///< from the first sample on
        Tuning to{};
        std::uint64_t first = 0;  ///< sample given out from there
    };

    /// Opens the samples of the band from one on.
    using OpenAt = std::function<std::unique_ptr<io::SampleSource>(std::uint64_t first)>;

    /// `open_at`: empty where samples come only once. `tuning`: none where the receiver takes the samples as
    /// they are. Of `config` the symbol rate is known, and the source knows its rate.
    RetunedSource(std::unique_ptr<io::SampleSource> source, const std::optional<Tuning>& tuning,
                  const ReceiverConfig& config, OpenAt open_at = {});
    ~RetunedSource() override;

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return rate_hz_; }
    io::BandMove moved() const override;
    double seconds_at(double sample) const override;
    std::uint64_t restarts() const override { return moves_.size(); }
    std::vector<io::SourceControl> controls() const override { return controls_; }
    void control(std::size_t index, double value) override;
    std::size_t read(std::span<std::byte> to) override;

    const io::SampleSource& source() const { return *source_; }
    /// Samples of the source, read so far.
    std::uint64_t samples() const { return samples_; }
    /// Tuner that takes the carrier out of them; null if the receiver takes them as they are.
    const TunedSource* tuned() const { return tuned_.get(); }
    /// By the thread that reads, or between runs.
    std::span<const Move> moves() const { return moves_; }

  private:
    class Feed;
    /// The rest of the window behind a change, if any: its first sample, and the band's power before.
    struct Rest {
        std::uint64_t first = 0;
        BandWatch::Power before{};
    };
    /// Carrier within the window, and the sample of it from which on it is there.
    struct Found {
        Tuning at{};
        std::uint64_t first = 0;
        Rest rest{};
    };

    std::size_t take(std::span<std::byte> to);
    void observe(std::span<const std::byte> bytes);
    void watch(std::span<const std::byte> bytes);
    void begin_window(std::vector<std::byte> first);
    void begin_window_before();
    bool window_is_full() const { return collects_ && window_.size() >= window_bytes_; }
    bool search();
    std::unique_ptr<io::SampleSource> open(std::span<const std::byte> part) const;
    bool hears_frames(std::span<const std::byte> part) const;
    ReadAt reads_window() const;
    std::span<const std::byte> bytes_of(const SampleStretch& part) const;
    Rest rest_behind_change() const;
    std::optional<Found> found_elsewhere() const;
    std::optional<Tuning> found_in(std::span<const std::byte> part) const;
    void retune(const Tuning& tuning);
    float gain_of_window(const Tuning& tuning) const;
    std::size_t give(std::span<std::byte> to);
    double now_symbol_rate_hz() const { return tuning_ ? tuning_->symbol_rate_hz : config_.symbol_rate_hz; }
    double now_hz() const { return tuning_ ? tuning_->offset_hz : 0; }

    std::unique_ptr<io::SampleSource> source_;
    const OpenAt open_at_;
    std::optional<Tuning> tuning_;
    const ReceiverConfig config_;
    const double band_rate_hz_;
    const std::size_t sample_bytes_;
    const std::uint64_t step_;  // samples from one piece that is watched to the next
    double first_hz_ = 0;
    std::unique_ptr<TunedSource> tuned_{};  // null: the samples are given as they are
    dsp::SampleFormat format_;
    double rate_hz_ = 0, samples_per_symbol_ = 0;
    std::vector<io::SourceControl> controls_{};
    std::vector<Move> moves_{};
    std::uint64_t given_ = 0;   // samples
    mutable std::mutex mutex_;  // over moves, tuning and tuner, while they are changed or others look

    BandWatch watch_{};
    std::uint64_t samples_ = 0;
    std::vector<std::byte> piece_{};
    std::uint64_t searched_ = 0;  // up to there
    std::uint64_t rested_ = 0;  // sample from which on changes that were none for the receiver count no more
    std::uint64_t next_look_ = 0;  // while nothing is received

    bool collects_ = false;
    std::size_t least_window_bytes_ = 0, window_bytes_ = 0;
    std::vector<std::byte> window_{};
    std::size_t window_before_ = 0;  // bytes of it from before the change was noticed
    BandWatch::Power before_{};      // the change
    int failures_ = 0;               // searches in a row

    float gain_ = 1;  // of tuned samples in the format of the source
    std::vector<dsp::Iq> tuned_samples_{};
};

}  // namespace tidemill::dvbs2
