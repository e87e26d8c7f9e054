#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/sample_ring.hpp"

namespace tidemill::io {

/// A live source's samples, behind some that were read before.
class StreamReader final : public SampleSource {
  public:
    /// The source must outlive the reader; `beginning` holds whole samples and is given out first.
    explicit StreamReader(LiveSource& source, std::vector<std::byte> beginning = {})
        : source_(source), beginning_(std::move(beginning)) {}

    dsp::SampleFormat format() const override { return source_.format(); }
    std::optional<double> sample_rate_hz() const override { return source_.sample_rate_hz(); }

    std::vector<SourceControl> controls() const override { return source_.controls(); }
    void control(std::size_t index, double value) override { source_.control(index, value); }

    /// Waits for at least one sample. Throws IoError.
    std::size_t read(std::span<std::byte> to) override;

    const LiveSource& source() const { return source_; }

  private:
    LiveSource& source_;
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

/// Reads whole samples until `most_bytes` are there, the source ends or, where it need not be all, nothing
/// more comes for a second; throws IoError. `came` is called after each piece; empty: nobody wants to know.
std::vector<std::byte> read_beginning(SampleRing& source, std::size_t most_bytes, bool all,
                                      const std::function<void(std::size_t bytes)>& came = {});

}  // namespace tidemill::io
