#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tidemill {

/// Share of the time: a source that waits for less sets no pace.
inline constexpr double kWaitsAtPace = 0.05;

/// Finds out which of several ways to run a stream is fastest by letting them take turns on it: A B A B,
/// twice each in a round, of which the shorter turn counts. A candidate that is more than a tenth slower than
/// the best of a round is out; the others go on in turns that are twice as long, so what is left to lose is
/// little. Knows no clock and no executor.
///
/// Where the source of a turn waits, it sets the pace: all ways that keep up have the same period. Then the
/// turns begin anew, and the thread that takes most of its core for a frame counts instead, since it says how
/// much room is left. One that is a tenth slower than the others is out even so.
class Trials {
  public:
    struct Turn {
        std::size_t candidate;
        double seconds;  ///< that it should take
        bool looks;      ///< at what each thread takes, and whether the source waits
    };

    /// Result of a turn; the latter two are of those that looked.
    struct Came {
        double period_us = 0;
        double busiest_us = 0;  ///< a frame
        bool source_waits = false;
    };

    /// Those that come first are preferred where nobody is clearly better. Where looking costs time, only the
    /// very first turns do, else the first ones of each round: of two turns the shorter counts.
    explicit Trials(std::size_t candidates, bool looking_is_cheap = false);

    /// The next turn; nothing once it is decided.
    std::optional<Turn> next() const;
    void tell(const Came& came);

    std::size_t best() const;
    bool source_sets_pace() const { return source_sets_pace_; }

    /// Results of a candidate's turns. Nothing before its first.
    struct Periods {
        double undisturbed_us = 0;  ///< the shorter turns, longer ones weigh more
        double least_us = 0;
        double most_us = 0;
        double busiest_us = 0;  ///< where the source sets the pace
    };
    std::optional<Periods> periods(std::size_t candidate) const;

  private:
    struct Told : Came {
        int round;
    };
    using Measure = double Came::*;

    void begin_by_busiest();
    void end_round();
    void leave_out(Measure measure, double least_us);
    double least_of_round(std::size_t candidate, int round, Measure measure) const;
    double least_of_paced() const;
    double undisturbed_us(std::size_t candidate, Measure measure) const;  // later rounds weigh more
    // Measure of the choice.
    Measure measure() const { return source_sets_pace_ ? &Came::busiest_us : &Came::period_us; }

    bool looking_is_cheap_;
    std::vector<std::vector<Told>> told_;  // per candidate
    std::vector<std::size_t> left_;
    std::size_t turn_ = 0;  // of this round
    int round_ = 0;
    bool source_sets_pace_ = false;
};

}  // namespace tidemill
