#pragma once

#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2 {

/// Takes a level that moves within a frame off symbols whose amplitudes carry data, 16APSK and 32APSK: the
/// mean powers of stretches of data show it, smoothed. Phases alone carry the other modulations, and steps of
/// the receiver's gain are taken out by the front. What it keeps between calls is scratch.
class LevelPath {
  public:
    /// Brings the data and the known symbols of a frame, as Carrier::remove() writes them, to one level;
    /// leaves them alone where the level moves by no more than noise feigns, or at once.
    void flatten(const Pls& pls, std::span<dsp::Iq> data, std::span<dsp::Iq> known);

  private:
    bool measure(std::span<const dsp::Iq> data);
    bool moves_slowly();
    float gain_at(double place) const;
    void scale(std::span<dsp::Iq> symbols, double place, double step) const;

    std::vector<float> powers_, changes_;
    std::vector<PhaseSample> levels_;  // logarithms of the amplitude, by places in the data
    PhaseSmoother smoother_;
};

}  // namespace tidemill::dvbs2
