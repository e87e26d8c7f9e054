#pragma once

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "tidemill/dsp/turned_products.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2::internal {

/// Neighbouring known symbols of a frame, over what they are when sent, added up at one frequency.
struct KnownPart {
    double place = 0;  // middle, in symbols from the frame's start
    std::complex<double> sum{};
    double energy = 0;
    int symbols = 0;
};

/// How a carrier turns from symbol to symbol of a block, which is at most as long as a header: worked out
/// once for all blocks of a frame.
class BlockTurns {
  public:
    /// In cycles per symbol.
    explicit BlockTurns(double frequency);

    double frequency() const { return frequency_; }

    /// Symbols times references, the first as it is, the others turned back.
    dsp::ProductSums turn_back(std::span<const dsp::Iq> symbols, std::span<const dsp::Iq> references,
                               std::span<dsp::Iq> products) const {
        return dsp::turned_products(symbols, references, std::span(turns_).first(symbols.size()), products);
    }

  private:
    double frequency_;
    std::array<dsp::Iq, kHeaderSymbols> turns_;
};

/// Part of a frame in such sums, of `symbols` symbols from `place` on.
KnownPart known_part(const dsp::ProductSums& sums, int place, int symbols, double frequency);

/// Adds parts of at most `part_symbols` symbols; `references` are the conjugates of what was sent from
/// `place` on.
void add_known(std::span<const dsp::Iq> frame, std::span<const dsp::Iq> references, int place,
               int part_symbols, const BlockTurns& turns, std::vector<KnownPart>& parts);

/// Joins neighbouring parts to whole blocks, after a frequency offset is removed from them.
std::vector<KnownPart> join_parts(std::span<const KnownPart> parts, double offset);

/// Es/N0 (linear, at least -6 dB) that blocks of known symbols show.
double esn0_of(std::span<const KnownPart> blocks);

/// The offset within +-reach (cycles per symbol) at which all parts agree best, when `sigma` is how
/// uncertain it was before.
double best_offset(std::span<const KnownPart> parts, double reach, double sigma);

/// Variance of a phase that is not known.
inline constexpr double kErasedVariance = 1e3;

/// The blocks' phases, each within half a turn of the one before, with their variances; of blocks that were
/// zeroed, that before them, with kErasedVariance.
void unwrap(std::span<const KnownPart> blocks, double esn0, std::vector<PhaseSample>& samples);

/// Takes the straight line that fits best out of the samples' phases; returns its slope (radians per symbol).
double remove_slope(std::span<PhaseSample> samples);

}  // namespace tidemill::dvbs2::internal
