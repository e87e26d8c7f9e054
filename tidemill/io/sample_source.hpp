#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// Where samples come from: a recording, later a radio or standard input. One thread reads it.
class SampleSource {
  public:
    virtual ~SampleSource() = default;

    virtual dsp::SampleFormat format() const = 0;

    /// Samples per second; empty when nobody knows.
    virtual std::optional<double> sample_rate_hz() const = 0;

    /// Hertz by which the band has been moved since the first sample, after a carrier that drifts; from any
    /// thread.
    virtual double followed_hz() const { return 0; }

    /// Fills the span with whole samples and returns the bytes written; fewer than fit mean little, 0 means
    /// the end. The span holds at least one sample. Throws IoError when the device or file fails.
    virtual std::size_t read(std::span<std::byte> to) = 0;
};

}  // namespace tidemill::io
