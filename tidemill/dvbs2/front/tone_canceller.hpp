#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"

namespace tidemill::dvbs2 {

/// Takes tones out of a window of samples: each is fitted to pieces of a few thousand samples, with an
/// amplitude, a phase and a frequency of its own, and subtracted. So of the signal goes no more than a
/// thousandth, and a tone may move. Its results depend on the arguments alone: copy it per thread.
class ToneCanceller {
  public:
    explicit ToneCanceller(std::size_t longest_window);

    /// Takes out of `window` what stands near the frequencies; `steps` are those of its level. What is zero,
    /// because it never came or was blanked, stays zero.
    void cancel(std::span<Iq> window, const ToneList& tones, const LevelStepList& steps = {});

  private:
    /// Sum over kGroup samples, turned back by the frequency that is looked near.
    struct Group {
        std::complex<double> sum;
        double middle;  // of its samples, from the piece's middle
        double count;   // 0: nothing is there
    };

    void cancel_in(std::span<Iq> piece, double near);
    void sum_groups(std::span<const Iq> piece, double near);
    std::complex<double> sum_at(double frequency) const;
    double best_frequency(double samples) const;
    void subtract(std::span<Iq> piece, std::complex<double> amplitude, double frequency);

    dsp::AlignedVector<Iq> turned_;
    dsp::AlignedVector<Iq> ones_;
    std::vector<Group> groups_{};
};

}  // namespace tidemill::dvbs2
