#pragma once

#include <cstdint>
#include <deque>

#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/front/front_spectrum.hpp"
#include "tidemill/dvbs2/front/iq_tracker.hpp"

namespace tidemill::dvbs2 {

/// A signal that was found needs but one chunk in so many to be followed.
constexpr std::uint32_t kFollowedChunks = 4;

/// Finds a signal and its frequency from block spectra, and afterwards gives each block its oscillator.
/// While it waits, the caller keeps the blocks; once sure, all from the signal's beginning are released.
class CoarseFrequencyEstimator {
  public:
    explicit CoarseFrequencyEstimator(const FrontGeometry& geometry);

    /// Another signal begins with the next block: nothing that was learned holds for it.
    void begin_anew();

    /// Takes the next block's spectrum, of every chunk unless found(), and says what to do with the blocks
    /// kept so far, this one included.
    KeptBlocks step(const BlockSpectrum& spectrum);

    /// End of the stream: releases what is kept if it holds a signal, drops it otherwise.
    KeptBlocks finish();

    /// The oscillator of the next released block.
    BlockOscillator next();

    /// Frequency last found, cycles per symbol (0 before).
    double frequency() const { return frequency_; }
    /// Whether a signal is being followed.
    bool found() const { return state_ == State::following; }
    /// Tracker of the oscillators' I and Q.
    const IqTracker& iq() const { return iq_; }
    /// Share of the received power that has the signal's spectrum, 0 to 1.
    double signal_share() const { return share_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("iq", iq_)("state", state_)("sum", sum_)("window", window_)("window_sum", window_sum_);
        archive("window_begin", window_begin_)("oldest_kept", oldest_kept_)("next_block", next_block_);
        archive("share", share_)("frequency", frequency_)("gain", gain_)("slewing", slewing_);
        archive("level_before", level_before_)("risen_chunks", risen_chunks_);
        archive("loudest", loudest_)("started", started_)("last", last_)("steps", steps_)("lately", lately_)(
            "hurries", hurries_);
    }

  private:
    enum class State { searching, estimating, following };

    void take(std::int64_t number, const dsp::LagCorrelation& received);
    dsp::LagCorrelation without_burst(const dsp::LagCorrelation& chunk) const;
    void learn_steps(const BlockSpectrum& spectrum);
    double level_since(std::int64_t sample) const;
    bool has_ended() const;
    bool has_risen(const dsp::LagCorrelation& received);
    void search();
    void estimate();
    void follow(const dsp::LagCorrelation& chunk);
    bool has_jumped(double error) const;
    double error_of(const SpectrumSum& sum) const;
    void slew();
    void move_by(double error, double most_per_symbol);
    bool hurry();
    void forget();
    double usual_power() const;
    double signal_gain(double share) const;
    double symbols_needed(double share) const;
    KeptBlocks release_all();

    FrontGeometry geometry_;
    SpectrumFit fit_;
    IqTracker iq_;
    std::size_t window_chunks_;           // while all are measured
    std::size_t followed_window_chunks_;  // the same time with one in kFollowedChunks

    State state_ = State::searching;
    SpectrumSum sum_{};                         // what the estimate rests on
    std::deque<dsp::LagCorrelation> window_{};  // the latest chunks, for detection of start and loss
    SpectrumSum window_sum_{};
    std::int64_t window_begin_ = 0;  // chunk number of the window's first
    std::int64_t oldest_kept_ = 0;
    std::int64_t next_block_ = 0;
    double share_ = 0.0;
    double frequency_ = 0.0;
    double gain_ = 1.0;
    double loudest_ = 0;       // power of a sample of the signal, where it was strongest lately
    double level_before_ = 0;  // of a chunk, before the latest ones that are far above it
    std::uint32_t risen_chunks_ = 0;
    bool slewing_ = false;
    SpectrumSum lately_{};  // what a drift is seen in
    bool hurries_ = false;  // after it

    std::deque<AgcStep> steps_{};  // by number of the sample in the stream; gain_ is that behind the last

    bool started_ = false;  // a block has been given its oscillator since the signal was found
    BlockOscillator last_{};
};

}  // namespace tidemill::dvbs2
