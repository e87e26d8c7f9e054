#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Follows the symbol clock through the sub-blocks' timing and says where each block's sampling_instants
/// stand. It locks by fitting a line to many sub-blocks at once, and the blocks kept until then get their
/// sampling_instants from that line; afterwards a second-order loop follows. The sampling_instants of
/// adjoining blocks adjoin exactly.
class SymbolTimingLoop {
  public:
    /// `live`: a clear clock is taken from as few sub-blocks as show it well.
    explicit SymbolTimingLoop(bool live = false) : live_(live) {}

    /// Takes the next filtered block and says what to do with the blocks kept so far, this one included.
    KeptBlocks step(const FilteredInfo& info);

    /// End of the stream: releases what is kept if a clock shows in it, drops it otherwise.
    KeptBlocks finish();

    /// The sampling_instants of the next released block.
    StrobePlan next();

    /// Number of the oldest block that the caller keeps; nothing where there is none.
    std::optional<std::int64_t> oldest_kept() const {
        return kept_.empty() ? std::nullopt : std::optional(kept_.front().block);
    }
    /// Whether the symbol clock is being followed.
    bool locked() const { return locked_; }
    /// Clock offset of the transmitter against the nominal rate, parts per million (0 before the first lock).
    double clock_ppm() const { return -slope_ / kSubblockSymbols * 1e6; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("kept", kept_)("measured", measured_)("locked", locked_)("restart", restart_);
        archive("line_end", line_end_)("tau", tau_)("slope", slope_)("quality_signal", quality_signal_);
        archive("quality_power", quality_power_)("emitted_tau", emitted_tau_)("ahead", ahead_)("leaps",
                                                                                               leaps_);
        archive("known", known_)("scatter", scatter_)("behind", behind_)("bend", bend_)("lag", lag_);
    }

  private:
    struct Measured {
        std::int64_t subblock;
        SubblockTiming timing;
    };

    /// A std::ranges::subrange is more than Clang 14, which `./x lint` reads with, understands.
    struct Latest {
        std::deque<Measured>::const_iterator first, behind;

        auto begin() const { return first; }
        auto end() const { return behind; }
    };

    /// The line through zero at the middle of n sub-blocks along which their phasors add up highest.
    struct LineFit {
        double n = 0;
        std::complex<double> best{};
        double slope = 0, power = 0, energy = 0;
    };

    /// From a sub-block on the clock stands elsewhere.
    struct Leap {
        std::size_t from;
        double symbols;
    };

    void lock_on(const FilteredInfo& info);
    KeptBlocks release_before(const FilteredInfo& info);
    bool try_lock_early();
    bool try_lock(std::size_t count, std::size_t least, bool surely = false);
    bool try_lock_burst(std::size_t ended);
    static LineFit fit_line(const Latest& run);
    static bool is_clock(const LineFit& fit, double least, std::optional<double> edge);
    void lock_to(const Latest& run, const LineFit& fit, double known);
    static std::complex<double> sum_along(const Latest& latest, double middle, double slope);
    void refine_line(const Latest& latest, double middle);
    void follow(const SubblockTiming& timing);
    void bend(double error);
    bool may_leap(const FilteredInfo& info) const;
    std::optional<Leap> leap_in(std::span<const SubblockTiming> ahead) const;
    void leap_by(double symbols);
    StrobeRun place_strobes();
    void forget();

    bool live_;
    std::deque<FilteredInfo> kept_{};  // blocks the caller keeps for us
    std::deque<Measured> measured_{};  // what the next fit rests on
    bool locked_ = false;
    bool restart_ = true;
    std::int64_t line_end_ = 0;  // sub-blocks before this one stand on the line
    double known_ = 0;           // sub-blocks on which tau and slope rest, up to the loop's memory
    double tau_ = 0.0;           // timing at the middle of the current sub-block, symbols, unwrapped
    double slope_ = 0.0;         // its change per sub-block
    double bend_ = 0.0;          // that of the slope, where the clock drifts
    double lag_ = 0.0;           // mean of what the loop is behind by, in symbols
    double quality_signal_ = 0.0;
    double quality_power_ = 0.0;
    double scatter_ = 0.0;                 // mean square of what sub-blocks' phasors have across the line
    std::deque<SubblockTiming> behind_{};  // the latest ones that were followed

    double emitted_tau_ = 0.0;  // timing of the next sampling_instant to be given out
    bool leaps_ = false;        // which does not go on from the one before
    double ahead_ =
        0.0;  // samples from where the next sub-block's sampling_instants may begin to that sampling_instant
};

}  // namespace tidemill::dvbs2
