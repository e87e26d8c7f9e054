#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/power_spectrum.hpp"

namespace tidemill::dvbs2 {

/// Notices from few samples that the spectrum of a band has changed: a carrier came, went or moved.
class BandWatch {
  public:
    static constexpr std::size_t kPieceSamples = 2048;
    static constexpr std::size_t kBins = 256;
    using Power = std::array<double, kBins>;

    /// Takes a piece of kPieceSamples. Slow changes become usual.
    void add(std::span<const dsp::Iq> piece);

    /// Whether the latest pieces differ from what is usual.
    bool has_changed() const;

    /// Takes the power from now on for the usual one.
    void settle();

    /// Takes this power for the usual one.
    void settle(const Power& usual);

    /// The usual power of each bin, from minus half of the sample rate on; 1 for white noise of power 1.
    const Power& usual() const { return usual_; }

  private:
    bool differs(const Power& sums, std::size_t count, std::size_t bins) const;

    const dsp::PowerSpectrum none_{kBins};  // of nothing, to be copied
    std::deque<Power> latest_{};
    Power many_{};  // their sum
    Power usual_{};
    std::size_t pieces_ = 0;  // on which that rests
};

}  // namespace tidemill::dvbs2
