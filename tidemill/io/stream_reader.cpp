#include "tidemill/io/stream_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidemill::io {
namespace {

// Reads until the last sample is whole; what is left of one at the end of the stream is not counted.
std::size_t read_samples(InputStream& stream, std::size_t sample_bytes, std::span<std::byte> to) {
    std::size_t bytes = 0;
    do {
        const std::size_t got = stream.read_some(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    } while (bytes % sample_bytes != 0);
    return bytes - bytes % sample_bytes;
}

std::span<std::byte> whole_samples(std::span<std::byte> bytes, dsp::SampleFormat format) {
    return bytes.first(bytes.size() - bytes.size() % dsp::bytes_per_sample(format));
}

}  // namespace

StreamReader::StreamReader(InputStream& stream, dsp::SampleFormat format,
                           std::optional<double> sample_rate_hz, std::vector<std::byte> beginning)
    : stream_(stream), format_(format), sample_rate_hz_(sample_rate_hz), beginning_(std::move(beginning)) {}

std::size_t StreamReader::read(std::span<std::byte> to) {
    to = whole_samples(to, format_);
    const std::size_t kept = std::min(to.size(), beginning_.size() - taken_);
    if (kept == 0) return read_samples(stream_, dsp::bytes_per_sample(format_), to);
    std::memcpy(to.data(), beginning_.data() + taken_, kept);
    taken_ += kept;
    if (taken_ == beginning_.size()) {
        beginning_ = {};
        taken_ = 0;
    }
    return kept;
}

std::size_t MemoryReader::read(std::span<std::byte> to) {
    to = whole_samples(to, format_);
    const std::size_t count = std::min(to.size(), bytes_.size());
    std::ranges::copy(bytes_.first(count), to.begin());
    bytes_ = bytes_.subspan(count);
    return count;
}

std::vector<std::byte> read_beginning(InputStream& stream, dsp::SampleFormat format, std::size_t most_bytes,
                                      bool all) {
    constexpr std::chrono::milliseconds kPatience{1000};
    std::vector<std::byte> bytes(most_bytes);
    const std::span<std::byte> whole = whole_samples(bytes, format);
    const std::size_t done = all ? stream.read(whole) : stream.read(whole, kPatience);
    bytes.resize(done - done % dsp::bytes_per_sample(format));
    return bytes;
}

}  // namespace tidemill::io
