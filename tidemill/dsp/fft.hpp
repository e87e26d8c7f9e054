#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Discrete Fourier transforms of one length, a power of two: X[k] = sum of x[n] exp(-2 pi j k n / N), in
/// place.
class Fft {
  public:
    /// Throws DspError for other lengths.
    explicit Fft(std::size_t size);

    std::size_t size() const { return size_; }

    /// Transforms size() samples.
    void forward(std::span<Iq> x) const;
    /// The inverse but for the factor: x[n] = sum of X[k] exp(+2 pi j k n / N).
    void inverse(std::span<Iq> x) const;

  private:
    std::size_t size_;
    std::vector<Iq> turns_{};  // of each stage, one behind the other
};

/// The same once, for whoever needs a length but once.
void fft(std::span<Iq> x);
void inverse_fft(std::span<Iq> x);

}  // namespace tidemill::dsp
