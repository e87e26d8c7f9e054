#include "tidemill/io/stream_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

// Waits for bytes; 0 is the end.
std::size_t read_some(int descriptor, std::span<std::byte> to) {
    while (true) {
        const ssize_t got = ::read(descriptor, to.data(), to.size());
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno == EAGAIN) {
            pollfd wait_for{descriptor, POLLIN, 0};
            poll(&wait_for, 1, -1);
        } else if (errno != EINTR) {
            throw IoError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
        }
    }
}

// Reads until the last sample is whole; what is left of one at the end of the stream is not counted.
std::size_t read_samples(int descriptor, std::size_t sample_bytes, std::span<std::byte> to) {
    std::size_t bytes = 0;
    do {
        const std::size_t got = read_some(descriptor, to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    } while (bytes % sample_bytes != 0);
    return bytes - bytes % sample_bytes;
}

std::span<std::byte> whole_samples(std::span<std::byte> bytes, dsp::SampleFormat format) {
    return bytes.first(bytes.size() - bytes.size() % dsp::bytes_per_sample(format));
}

}  // namespace

StreamReader::StreamReader(int descriptor, dsp::SampleFormat format, std::optional<double> sample_rate_hz,
                           std::vector<std::byte> beginning)
    : descriptor_(descriptor),
      format_(format),
      sample_rate_hz_(sample_rate_hz),
      beginning_(std::move(beginning)) {}

std::size_t StreamReader::read(std::span<std::byte> to) {
    to = whole_samples(to, format_);
    const std::size_t kept = std::min(to.size(), beginning_.size() - taken_);
    if (kept == 0) return read_samples(descriptor_, dsp::bytes_per_sample(format_), to);
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
    std::memcpy(to.data(), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
}

std::size_t read_whole(int descriptor, std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size()) {
        const std::size_t got = read_some(descriptor, to.subspan(done));
        if (got == 0) break;
        done += got;
    }
    return done;
}

std::vector<std::byte> read_beginning(int descriptor, dsp::SampleFormat format, std::size_t most_bytes) {
    std::vector<std::byte> bytes(most_bytes);
    const std::size_t done = read_whole(descriptor, whole_samples(bytes, format));
    bytes.resize(done - done % dsp::bytes_per_sample(format));
    return bytes;
}

}  // namespace tidemill::io
