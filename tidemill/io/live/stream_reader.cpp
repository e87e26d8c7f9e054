#include "tidemill/io/live/stream_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidemill::io {
namespace {

std::span<std::byte> whole_samples(std::span<std::byte> bytes, dsp::SampleFormat format) {
    return bytes.first(bytes.size() - bytes.size() % dsp::bytes_per_sample(format));
}

}  // namespace

std::size_t StreamReader::read(std::span<std::byte> to) {
    to = whole_samples(to, format());
    const std::size_t kept = std::min(to.size(), beginning_.size() - taken_);
    if (kept == 0) return source_.read(to);
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

std::vector<std::byte> read_beginning(SampleRing& source, std::size_t most_bytes, bool all,
                                      const std::function<void(std::size_t bytes)>& came) {
    constexpr std::chrono::milliseconds kPatience{1000};
    std::vector<std::byte> bytes(most_bytes);
    const std::span<std::byte> whole = whole_samples(bytes, source.format());
    std::size_t done = 0;
    while (done < whole.size()) {
        const std::span<std::byte> rest = whole.subspan(done);
        const std::size_t got = all || done == 0 ? source.read(rest) : source.read(rest, kPatience);
        if (got == 0) break;
        done += got;
        if (came) came(got);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace tidemill::io
