#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tidemill {

/// Finds out which of several ways to run a stream is fastest by letting them take turns on it: A B A B,
/// twice each in a round, of which the shorter turn counts. Who is more than a tenth slower than the best of
/// a round is out; the others go on in turns that are twice as long, so what is left to lose is little. Knows
/// no clock and no executor.
class Trials {
  public:
    struct Turn {
        std::size_t candidate;
        double seconds;  ///< that it should take
    };

    /// Those that come first are preferred where nobody is clearly faster.
    explicit Trials(std::size_t candidates);

    /// Whose turn it is; nothing once that is decided.
    std::optional<Turn> next() const;

    /// The period that this turn had, in microseconds.
    void tell(double period_us);

    std::size_t best() const;

    /// What a candidate's turns came to. Nothing before its first.
    struct Periods {
        double undisturbed_us = 0;  ///< what the choice goes by: the shorter turns, longer ones weigh more
        double least_us = 0;
        double most_us = 0;
    };
    std::optional<Periods> periods(std::size_t candidate) const;

  private:
    struct Told {
        double period_us;
        int round;
    };

    void end_round();
    double least_of_round(std::size_t candidate, int round) const;
    double undisturbed_us(std::size_t candidate) const;  // of its rounds, the later ones weigh more

    std::vector<std::vector<Told>> told_;  // per candidate
    std::vector<std::size_t> left_;
    std::size_t turn_ = 0;  // of this round
    int round_ = 0;
};

}  // namespace tidemill
