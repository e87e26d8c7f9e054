#pragma once

#include <cstdint>
#include <memory>

#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {

namespace internal {
class RecordedFile;
}

/// Reads the samples of a recording block by block; the file is never mapped, memory stays the caller's.
class RecordingReader final : public SampleSource {
  public:
    /// Throws IoError when the data cannot be opened.
    explicit RecordingReader(Recording recording);
    RecordingReader(RecordingReader&&) noexcept;
    ~RecordingReader() override;

    dsp::SampleFormat format() const override { return recording_.format; }
    std::optional<double> sample_rate_hz() const override { return recording_.sample_rate_hz; }

    /// Fills the span unless the recording ends; a file that has become shorter ends early and is counted.
    std::size_t read(std::span<std::byte> to) override;

    const Recording& recording() const { return recording_; }

    /// The next sample to be read, from 0.
    std::uint64_t position() const { return position_; }

    /// Goes to a sample, at most to the end.
    void seek(std::uint64_t sample);

    /// Samples that were there when the recording was examined and are there no more.
    std::uint64_t missing_samples() const { return missing_samples_; }

  private:
    std::size_t read_piece(std::span<std::byte> to);

    Recording recording_;
    std::unique_ptr<internal::RecordedFile> file_;
    std::uint64_t position_ = 0;
    std::uint64_t missing_samples_ = 0;
};

}  // namespace tidemill::io
