#pragma once

#include <cstdint>
#include <deque>

namespace tidemill::dvbs2::internal {

/// The frequency that the front took out of a stream of symbols, by their places: what a carrier seems to
/// have moved by when the front's oscillator did. Cycles per symbol.
class FrontPath {
  public:
    /// From `place` on it is `frequency`. What was `found` anew has not moved: nobody knows that it is the
    /// same.
    void turn(std::uint64_t place, double frequency, bool found);

    /// Forgets what is before a place.
    void forget_before(std::uint64_t place);

    /// Whether it moves between two places.
    bool turns(std::uint64_t from, std::uint64_t to) const;
    /// How far at() is from what was taken out, another number wherever the carrier was found anew.
    double away(std::uint64_t place) const { return turn_at(place).away; }
    /// At a place, with all that it has moved by since the stream began.
    double at(std::uint64_t place) const { return turn_at(place).frequency; }
    /// Frequency that was taken out there.
    double taken_out(std::uint64_t place) const { return at(place) - away(place); }
    /// Its phase, in cycles.
    double cycles(std::uint64_t place) const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("turns", turns_);
    }

  private:
    struct Turn {
        std::uint64_t place = 0;
        double frequency = 0;
        double cycles = 0;
        double away = 0;  // from what the front says, for all that was found anew
    };

    const Turn& turn_at(std::uint64_t place) const;

    std::deque<Turn> turns_{Turn{}};  // in order
};

}  // namespace tidemill::dvbs2::internal
