#pragma once

#include <complex>
#include <span>
#include <vector>

#include "tidemill/dvbs2/sync/frequency_estimator.hpp"
#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"

namespace tidemill::dvbs2 {

/// Carrier frequency over many frames. Within a block of known symbols the phase shows it roughly and surely;
/// from block to block it shows it finely, but only modulo one turn on the way. Both together decide. A
/// carrier that jumps is learned anew.
class CarrierFrequencyTracker {
  public:
    /// Starts from a frequency (cycles per symbol) that is right within 0.02.
    explicit CarrierFrequencyTracker(double frequency = 0) : near_(frequency) {}

    /// One block of known symbols of a frame.
    struct Block {
        int place;                            // in `frame`
        std::span<const dsp::Iq> references;  // conjugates of what was sent, unit energy
    };

    /// Learns from the blocks of one frame, in order; `esn0` (linear) is how good its symbols are.
    void learn(std::span<const dsp::Iq> frame, std::span<const Block> blocks, double esn0);

    /// Whether what is known of how it moves may be wrong by a little: then little is remembered.
    void expect_drift(bool expected) { drifts_ = expected; }

    /// The carrier is known to have moved by so much, or what was taken out before has.
    void carry(double by);

    /// Move of the carrier since the frame before by the last frame, where pilots or the phase from header to
    /// header show it; else 0.
    double last_move() const { return last_move_; }
    /// Whether they do.
    bool tells_moves() const { return !far_.empty() || header_lag_ > 0; }
    /// Whether it had learned from a frame before the last one: else last_move() is what the frequency that
    /// it began with was wrong by.
    bool has_known_before() const { return frames_ > 1; }
    /// The symbols from header to header of the last short frame without pilots, and by how much more, in
    /// radians, the phase turned over them than over the frame before; 0 where that was not of the same
    /// length.
    double header_lag() const { return bend_lag_; }
    double header_bend() const { return header_bend_; }
    /// Frequency by its known symbols alone, in cycles per symbol.
    double own_frequency() const { return own_frequency_; }
    /// They themselves, as they were before it was learned.
    std::span<const internal::KnownPart> parts() const { return parts_; }

    /// Cycles per symbol.
    double frequency() const { return near_.frequency(); }

    /// Expected error of frequency().
    double sigma() const;

    /// True when frequency() is certainly in the right lobe, or as sure as it will be.
    bool settled() const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("near", near_)("far", far_)("esn0", esn0_)("lead", lead_)("frames", frames_);
        archive("symbols", symbols_)("header_memory", header_memory_)("header_lag", header_lag_);
        archive("header_turn", header_turn_)("last_move", last_move_)("own_frequency", own_frequency_);
        archive("drifts", drifts_)("bend_lag", bend_lag_)("header_bend", header_bend_);
    }

  private:
    struct FarSum {
        double lag;
        std::complex<double> sum;  // scaled so that its real part is a log-likelihood
    };
    struct Choice {
        double offset;
        double lead;  // log-likelihood over that of the next lobe
    };

    FrequencyEstimator read(std::span<const dsp::Iq> frame, std::span<const Block> blocks);
    bool has_jumped(const FrequencyEstimator& own) const;
    void start_at(double frequency);
    double near_memory(double length) const;
    double moved_by_headers();
    void add_far(std::span<const internal::KnownPart> blocks, double esn0);
    double far_likelihood(double offset) const;
    Choice choose() const;
    double polish(double offset) const;
    void move(double offset);

    FrequencyEstimator near_;
    std::vector<FarSum> far_;
    std::vector<internal::KnownPart> parts_;
    double esn0_ = 1;
    double lead_ = 0;
    int frames_ = 0;
    double symbols_ = 0;        // of these
    double header_memory_ = 0;  // of near_, in symbols, where it cannot move along
    double header_lag_ = 0;     // between the headers of the last frame, where it can; else 0
    bool drifts_ = false;
    double bend_lag_ = 0;
    double header_bend_ = 0;
    double last_move_ = 0;
    double own_frequency_ = 0;
    double header_turn_ = 0;  // of the phase between them, in radians, perhaps whole turns away
};

}  // namespace tidemill::dvbs2
