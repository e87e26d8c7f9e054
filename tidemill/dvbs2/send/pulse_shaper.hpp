#pragma once

#include <algorithm>
#include <array>
#include <cassert>
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

    /// Calls use(some, done) for pieces of `symbols` in turn, with the history() of the first of them before
    /// them, and how many symbols came before that.
    template <class Use>
    void in_pieces(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols, Use use) const;

    /// The samples of all symbols behind the first history() ones.
    void fill(std::span<const dsp::Iq> symbols, std::span<dsp::Iq> samples) const;

    /// Taps of the pulse, as an Interpolator has them; none without one.
    std::span<const float> taps() const;

    /// The samples that these symbols complete; valid until the next call.
    std::span<const dsp::Iq> process(std::span<const dsp::Iq> symbols);

    /// Rest of the last symbols; valid until the next call.
    std::span<const dsp::Iq> finish();

  private:
    dsp::Interpolator interpolator_;
    std::size_t samples_per_symbol_;
    std::vector<dsp::Iq> last_;     // symbols, as many as the next one needs before it
    std::vector<dsp::Iq> samples_;  // as many as any call made, so that none are cleared again
};

// The first ones need those before beside them; all others have them there already.
template <class Use>
void PulseShaper::in_pieces(std::span<const dsp::Iq> before, std::span<const dsp::Iq> symbols,
                            Use use) const {
    assert(before.size() == history());
    const std::size_t first = std::min(before.size(), symbols.size());
    if (first > 0) {
        std::array<dsp::Iq, 4 * kReachSymbols> seam;
        std::ranges::copy(before, seam.begin());
        std::ranges::copy(symbols.first(first), seam.begin() + static_cast<std::ptrdiff_t>(before.size()));
        use(std::span<const dsp::Iq>(seam).first(before.size() + first), std::size_t{0});
    }
    if (symbols.size() > first) use(symbols, first);
}

}  // namespace tidemill::dvbs2
