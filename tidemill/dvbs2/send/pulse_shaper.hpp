#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Symbols to samples with a square-root raised-cosine pulse (EN 302 307-1, 5.6); mean power is that of the
/// symbols.
class PulseShaper {
  public:
    /// Symbols by which the pulse reaches to either side: symbol k peaks at sample (k + kReachSymbols) *
    /// samples.
    static constexpr int kReachSymbols = 20;

    /// With one sample a symbol there is no pulse: symbols pass as they are. Throws Dvbs2Error
    /// unless samples_per_symbol >= 1 and 0 < rolloff <= 1.
    PulseShaper(int samples_per_symbol, double rolloff);

    std::size_t samples_per_symbol() const { return samples_per_symbol_; }

    /// Symbols before the next one that its samples need; none without a pulse.
    std::size_t history() const { return samples_per_symbol_ == 1 ? 0 : interpolator_.history(); }

    /// The samples that `symbols` complete behind these history() ones, samples_per_symbol for each, whatever
    /// was processed before. They are those that process() gives.
    void shape(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
               std::span<dsp::Iq> samples) const;

    /// The samples that these symbols complete; valid until the next call.
    std::span<const dsp::Iq> process(std::span<const dsp::Iq> symbols);

    /// What remains of the last symbols; valid until the next call.
    std::span<const dsp::Iq> finish();

  private:
    dsp::Interpolator interpolator_;
    std::size_t samples_per_symbol_;
    std::vector<dsp::Iq> last_;     // symbols, as many as the next one needs before it
    std::vector<dsp::Iq> samples_;  // as many as any call made, so that none are cleared again
};

}  // namespace tidemill::dvbs2
