#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// Something of a source that may be changed while it is read, a number with its unit in the name.
struct SourceControl {
    std::string name;  ///< "gain_db"
    double value = 0;
    double least = 0;
    double most = 0;
};

/// A move of a source's band since its first sample.
struct BandMove {
    double hz = 0;  ///< further up
    double rate =
        1;  ///< times as many samples per second as it reports: the same of a carrier that is faster
    double at_s = 0;  ///< seconds from the first sample on, after which it is another signal's
};

/// Where samples come from: a recording, later a radio or standard input. One thread reads it.
class SampleSource {
  public:
    virtual ~SampleSource() = default;

    virtual dsp::SampleFormat format() const = 0;

    /// Samples per second; empty when nobody knows.
    virtual std::optional<double> sample_rate_hz() const = 0;

    /// How the band has been moved since the first sample, after a carrier; from any thread.
    virtual BandMove moved() const { return {}; }

    /// When the sample of that number, of those given, was received: seconds from the first one. From any
    /// thread.
    virtual double seconds_at(double sample) const { return sample / sample_rate_hz().value_or(1); }

    /// How often what it gives has begun anew, with another signal that owes nothing to the one before. By
    /// the thread that reads.
    virtual std::uint64_t restarts() const { return 0; }

    /// Controls of the source; they stay the same from the first read on.
    virtual std::vector<SourceControl> controls() const { return {}; }
    /// Changes the control of that index, soon, to a value between its ends. By the thread that reads.
    virtual void control(std::size_t /*index*/, double /*value*/) {}

    /// Fills the span with whole samples and returns the bytes written; fewer than fit mean little, 0 means
    /// the end. The span holds at least one sample. Throws IoError when the device or file fails.
    virtual std::size_t read(std::span<std::byte> to) = 0;
};

}  // namespace tidemill::io
