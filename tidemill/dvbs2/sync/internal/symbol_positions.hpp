#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "tidemill/dvbs2/front/strobe_mark.hpp"

namespace tidemill::dvbs2::internal {

/// Where the symbols of a stream lie in the samples that were received, in symbols of the nominal rate: what
/// the clock slips by moves symbols, and no samples.
class SymbolPositions {
  public:
    /// From the mark's symbol on, which is `place` in the stream, they lie as it says.
    void mark(std::uint64_t place, const StrobeMark& mark);

    /// Forgets what is before a symbol.
    void forget_before(std::uint64_t place);

    /// Place of a symbol; where nothing was marked, a symbol lies behind the other.
    double at(std::uint64_t place) const;

    /// Where the clock leapt first between two symbols; nothing where it did not.
    std::optional<double> leap(std::uint64_t from, std::uint64_t to) const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("runs", runs_);
    }

  private:
    struct Run {
        std::uint64_t begin;
        double place, step;
        std::uint64_t leaps;  // a word, so that no byte of a checkpoint is left to chance
    };

    std::deque<Run> runs_{{0, 0, 1, 0}};  // in order
};

}  // namespace tidemill::dvbs2::internal
