#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/input_stream.hpp"
#include "tidemill/io/sample_source.hpp"

namespace tidemill::io {

/// Raw samples from a stream, behind some that were read before.
class StreamReader final : public SampleSource {
  public:
    /// The stream must outlive the reader; `beginning` holds whole samples and is given out first.
    StreamReader(InputStream& stream, dsp::SampleFormat format, std::optional<double> sample_rate_hz,
                 std::vector<std::byte> beginning = {});

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }

    /// Waits for at least one sample; a part of a sample at the end is left out. Throws IoError.
    std::size_t read(std::span<std::byte> to) override;

  private:
    InputStream& stream_;
    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
    std::vector<std::byte> beginning_;
    std::size_t taken_ = 0;  // of the beginning
};

/// Samples in memory.
class MemoryReader final : public SampleSource {
  public:
    MemoryReader(std::span<const std::byte> bytes, dsp::SampleFormat format,
                 std::optional<double> sample_rate_hz)
        : bytes_(bytes), format_(format), sample_rate_hz_(sample_rate_hz) {}

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override;

  private:
    std::span<const std::byte> bytes_;
    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
};

/// Reads whole samples until `most_bytes` are there, the stream ends or, where it need not be all, nothing
/// more comes for a second; throws IoError.
std::vector<std::byte> read_beginning(InputStream& stream, dsp::SampleFormat format, std::size_t most_bytes,
                                      bool all);

}  // namespace tidemill::io
