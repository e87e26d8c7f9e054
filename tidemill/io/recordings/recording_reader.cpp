#include "tidemill/io/recordings/recording_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "tidemill/io/files/internal/recorded_file.hpp"

namespace tidemill::io {

namespace {

// `from` may lie in `to`, as far behind as it is shorter: each number is read before it is overwritten.
void widen(const StoredIntegers& as, std::span<const std::byte> from, std::span<std::byte> to) {
    const unsigned spare = 32 - as.bits;
    for (std::size_t i = 0; i < from.size() / as.bytes; ++i) {
        const std::byte* const number = &from[i * as.bytes];
        std::uint32_t bits = 0;
        for (unsigned k = 0; k < as.bytes; ++k) {
            const unsigned place = as.is_big_endian ? as.bytes - 1 - k : k;
            bits |= std::to_integer<std::uint32_t>(number[place]) << (8 * k);
        }
        bits <<= spare;
        if (as.is_unsigned) bits ^= 0x80000000U;
        const auto value = static_cast<std::int32_t>(bits) >> spare;
        const float share = static_cast<float>(value) * 0x1p-31F * static_cast<float>(1U << spare);
        std::memcpy(&to[i * sizeof share], &share, sizeof share);
    }
}

}  // namespace

RecordingReader::RecordingReader(Recording recording)
    : recording_(std::move(recording)),
      file_(std::make_unique<internal::RecordedFile>(recording_.data_path)) {}

RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;

RecordingReader::~RecordingReader() = default;

std::size_t RecordingReader::read(std::span<std::byte> to) {
    const auto sample_bytes = dsp::bytes_per_sample(recording_.format);
    to = to.first(std::min<std::uint64_t>(to.size() / sample_bytes, recording_.samples - position_) *
                  sample_bytes);
    std::size_t done = 0;
    while (done < to.size()) {
        const std::size_t got = read_piece(to.subspan(done));
        done += got;
        if (got == 0) break;
    }
    if (done < to.size()) missing_samples_ = recording_.samples - position_;
    return done;
}

std::size_t RecordingReader::read_piece(std::span<std::byte> to) {
    const auto sample_bytes = dsp::bytes_per_sample(recording_.format);
    const auto stored_bytes = stored_bytes_per_sample(recording_);
    const SamplePlace place = place_of_sample(recording_, position_);
    const auto wanted = std::min<std::uint64_t>(to.size() / sample_bytes, place.until - position_);
    // Never more than what they become: 4 to 8 bytes of 8.
    const std::span<std::byte> stored = to.first(wanted * sample_bytes).last(wanted * stored_bytes);
    const auto got = file_->read_at(stored, place.offset) / stored_bytes;
    if (recording_.integers.bytes > 0)
        widen(recording_.integers, stored.first(got * stored_bytes), to.first(got * sample_bytes));
    position_ += got;
    return got * sample_bytes;
}

void RecordingReader::seek(std::uint64_t sample) {
    position_ = std::min(sample, recording_.samples);
}

}  // namespace tidemill::io
