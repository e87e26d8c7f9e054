#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <span>

#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"

namespace tidemill::dvbs2::internal {

/// Whether a carrier drifts faster than one that stands still: in each frame its pilots' phases lie on a
/// parabola, and without pilots the headers' frequencies on a line. Cycles, symbols.
class DriftWatch {
  public:
    /// Where a carrier is, what its drift is, and how sure that is.
    struct Found {
        double place = 0;
        double frequency = 0;
        double drift = 0;
        double sigma = 1;   // of the drift
        double span = 0;    // symbols from the first header to the last
        bool open = false;  // by whole turns of the pilots' phases
    };

    /// The known parts of a frame, from which all but `offset` of the frequency was removed.
    void add(std::span<const KnownPart> parts, double offset, double esn0);
    /// A header's place, the frequency that it shows, the variance of that; and by how much more (radians)
    /// the phase turned since the header `lag` before than between that and the one before it, where lags are
    /// alike. One that is not behind the last is known already.
    struct Header {
        double place, frequency, variance;
        double lag, bend;
    };
    void add_header(const Header& header);

    /// By the pilots, `taken_out` of the drift removed from them before: the rest of it, without frequency.
    /// Their phases leave whole turns open, which the headers' frequencies decide; nothing where they cannot.
    Found by_pilots(double taken_out = 0) const;
    /// The same within half a turn, by the pilots alone.
    Found by_pilots_alone() const;
    /// Whether a header at a place was added.
    bool knows(double place) const { return !headers_.empty() && place <= headers_.back().place; }
    /// By the headers.
    Found by_headers() const;
    /// By the headers' frequencies alone, the longest line on which the latest of them lie.
    Found by_frequencies() const;

    /// Discards what pilots showed before: from now on another drift is taken out first.
    void forget_pilots() { bend_ = bends_ = frames_ = 0; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("bend", bend_)("bends", bends_)("frames", frames_)("variance", variance_)(
            "headers", headers_)("header_bend", header_bend_)("header_bends", header_bends_);
    }

  private:
    std::size_t first_of(std::size_t headers) const;
    Found shortest_line(double sigma) const;
    bool is_noisy() const;
    bool is_lasting(double drift, double taken_out) const;
    Found line(std::size_t headers) const;
    Found line_from(std::size_t first, double most_scatter) const;

    std::complex<double> bend_{};  // of how much further the phase turns from one block to the next
    double bends_ = 0;
    double frames_ = 0;    // that they are of, by the squares of their weights
    double variance_ = 0;  // of such a difference's phase
    std::deque<Header> headers_;
    std::complex<double> header_bend_{};
    double header_bends_ = 0;
};

}  // namespace tidemill::dvbs2::internal
