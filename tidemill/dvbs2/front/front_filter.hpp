#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/polyphase_pairs.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/front/pulse_blanker.hpp"

namespace tidemill::dvbs2 {

/// Turns raw samples into matched-filtered ones at two per symbol, and measures the timing of each
/// sub-block. Its results depend on the arguments alone (what it keeps is scratch): copy it per thread.
class FrontFilter {
  public:
    explicit FrontFilter(const FrontGeometry& geometry);

    /// `samples` are the block's history and the block itself, of which only the first `valid` samples belong
    /// to the stream (the rest, after its end, is zero): sub-blocks of nothing but zeros are left out.
    void process(std::span<const Iq> samples, std::uint32_t valid, const BlockOscillator& oscillator,
                 FilteredBlock& out) {
        filter(samples, valid, oscillator, out);
    }
    void process(std::span<const dsp::Ci8> samples, std::uint32_t valid, const BlockOscillator& oscillator,
                 FilteredBlock& out) {
        filter(samples, valid, oscillator, out);
    }

    /// Marks where samples of the window were zeroed before, behind process().
    void mark_erased(std::span<const PulseBlanker::Run> runs, FilteredBlock& block) const;

  private:
    template <class Sample>
    void filter(std::span<const Sample> samples, std::uint32_t valid, const BlockOscillator& oscillator,
                FilteredBlock& out);
    template <class Sample>
    void filter_at_two(std::span<const Sample> samples, const BlockOscillator& oscillator, std::int64_t first,
                       std::size_t pairs, FilteredBlock& out);
    template <class Sample>
    void filter_at_any(std::span<const Sample> samples, const BlockOscillator& oscillator, std::int64_t first,
                       std::size_t pairs, FilteredBlock& out);
    SubblockTiming measure(const FilteredBlock& block, std::size_t subblock) const;

    FrontGeometry geometry_;
    std::vector<float> taps_;                  // at exactly two samples per symbol
    std::optional<dsp::PolyphasePairs> bank_;  // at any other rate
    double power_moment_ = 0.0;                // strength of the symbol-rate line in |x|^2 ...
    double product_moment_ = 0.0;              // ... and in Re(conj(x(t)) x(t + 1/2))
    dsp::AlignedVector<std::int16_t> turned_pairs_;
    dsp::AlignedVector<Iq> turned_, turned_odd_;
    dsp::AlignedVector<std::int16_t> turned_re_, turned_im_;
};

}  // namespace tidemill::dvbs2
