#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Discrete Fourier transforms of one length, a power of two: X[k] = sum of x[n] exp(-2 pi j k n / N). One
/// thread uses it at a time.
class Fft {
  public:
    /// Throws DspError for other lengths.
    explicit Fft(std::size_t size);

    std::size_t size() const { return size_; }

    /// Transforms size() samples, in place or from one span into another.
    void forward(std::span<Iq> x) { transform(x, x, false); }
    void forward(std::span<const Iq> x, std::span<Iq> spectrum) { transform(x, spectrum, false); }
    /// The inverse but for the factor: x[n] = sum of X[k] exp(+2 pi j k n / N).
    void inverse(std::span<Iq> x) { transform(x, x, true); }
    void inverse(std::span<const Iq> spectrum, std::span<Iq> x) { transform(spectrum, x, true); }

  private:
    void transform(std::span<const Iq> from, std::span<Iq> to, bool inverse);

    std::size_t size_;
    std::vector<Iq> turns_{};  // of each pass, one behind the other: p, 2 p and 3 p parts of a turn
    AlignedVector<Iq> other_;  // what every other pass writes
};

/// The same once, for a length that is needed but once.
void fft(std::span<Iq> x);
void inverse_fft(std::span<Iq> x);

}  // namespace tidemill::dsp
