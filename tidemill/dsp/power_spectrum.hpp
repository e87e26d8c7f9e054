#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/fft.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// A window of four terms of Blackman and Harris (Harris 1978) whose squares add up to 1: side lobes are 92
/// dB down, and lines smear over four bins to either side.
std::vector<float> blackman_harris(std::size_t size);

/// How the power of a stream also_writes over frequency: the mean over overlapping stretches under a window
/// (Welch 1967), that of blackman_harris().
class PowerSpectrum {
  public:
    /// `bins` is a power of two, also the samples of a stretch. Throws DspError for other numbers.
    explicit PowerSpectrum(std::size_t bins);

    /// Takes more of the stream.
    void add(std::span<const Iq> samples);
    /// Leaves out the stretch that has begun, because the next samples do not follow the last.
    void restart() { filled_ = 0; }

    std::size_t bins() const { return fft_.size(); }
    /// Stretches so far, of which neighbours share half of their samples.
    std::size_t stretches() const { return stretches_; }

    /// Power of each bin, from minus half of the sample rate on; of white noise of power 1 all are 1. Empty
    /// before the first stretch is full.
    std::vector<float> power() const;

  private:
    void transform();

    Fft fft_;
    std::vector<float> window_;  // of real and imaginary parts
    AlignedVector<Iq> stretch_;  // what came of the next one
    std::size_t filled_ = 0;
    AlignedVector<Iq> windowed_, spectrum_;
    std::vector<double> sums_;
    std::size_t stretches_ = 0;
};

}  // namespace tidemill::dsp
