#include "tidemill/io/recording_reader.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/io/internal/recorded_file.hpp"

namespace tidemill::io {

RecordingReader::RecordingReader(Recording recording)
    : recording_(std::move(recording)),
      file_(std::make_unique<internal::RecordedFile>(recording_.data_path)) {}

RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;

RecordingReader::~RecordingReader() = default;

std::size_t RecordingReader::read(std::span<std::byte> to) {
    const auto sample_bytes = dsp::bytes_per_sample(recording_.format);
    const auto wanted = std::min<std::uint64_t>(to.size() / sample_bytes, recording_.samples - position_);
    const auto got =
        file_->read_at(to.first(wanted * sample_bytes), recording_.data_offset + position_ * sample_bytes) /
        sample_bytes;
    position_ += got;
    if (got < wanted) {
        missing_samples_ = recording_.samples - position_;
    }
    return got * sample_bytes;
}

void RecordingReader::seek(std::uint64_t sample) {
    position_ = std::min(sample, recording_.samples);
}

}  // namespace tidemill::io
