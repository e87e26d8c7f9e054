#include "tidemill/io/live/byte_stream_source.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {

namespace {

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t number_in(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    return value;
}

// As far as it is there: its name, its length and its kind.
bool may_be_wav(std::span<const std::byte> begin) {
    const std::string text = text_of(begin);
    const std::string name = text.substr(0, 4), kind = text.size() > 8 ? text.substr(8) : "";
    const auto begins = [&](std::string_view whole) { return whole.starts_with(name); };
    return (begins("RIFF") || begins("RF64") || begins("BW64")) && std::string_view("WAVE").starts_with(kind);
}

}  // namespace

std::string cut_sample_text(std::uint64_t bytes, std::size_t sample_bytes) {
    return fmt::format("the last sample is cut off, and not read: {} of its {} bytes are there", bytes,
                       sample_bytes);
}

ByteStreamSource::ByteStreamSource(const std::filesystem::path& place, dsp::SampleFormat format,
                                   std::optional<double> sample_rate_hz, SetUp set_up,
                                   std::optional<Adjustment> adjustment, std::optional<Patience> patience)
    : stream_(place),
      format_(format),
      sample_rate_hz_(sample_rate_hz),
      set_up_(std::move(set_up)),
      adjustment_(std::move(adjustment)),
      patience_(patience),
      wanted_(adjustment_ ? adjustment_->control.value : 0),
      told_(wanted_) {
    if (patience_) stream_.give_up_after(patience_->first);
}

std::vector<SourceControl> ByteStreamSource::controls() const {
    if (!adjustment_) return {};
    return {adjustment_->control};
}

// The reading thread alone talks with the other end.
void ByteStreamSource::control(std::size_t /*index*/, double value) {
    wanted_ = value;
}

std::size_t ByteStreamSource::read(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    to = to.first(to.size() - to.size() % size);
    if (const double wanted = wanted_; wanted != told_) {
        told_ = wanted;
        adjustment_->tell(stream_, wanted);
    }
    std::size_t bytes = 0;
    if (!looked_) look_for_wav();
    do {
        const std::size_t got = read_some(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    } while (bytes % size != 0);
    if (patience_ && bytes > 0) stream_.give_up_after(patience_->later);
    if (bytes % size != 0) cut_bytes_ = bytes % size;
    return bytes - bytes % size;
}

std::size_t ByteStreamSource::read_some(std::span<std::byte> to) {
    if (ahead_.empty()) return stream_.read_some(to);
    const std::size_t count = std::min(to.size(), ahead_.size());
    std::copy_n(ahead_.begin(), count, to.begin());
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

// Nobody waits for more bytes than it takes to see that they are no header.
void ByteStreamSource::look_for_wav() {
    constexpr std::size_t kBegin = 12;
    looked_ = true;
    if (set_up_) return;
    while (ahead_.size() < kBegin && may_be_wav(ahead_)) {
        const std::size_t had = ahead_.size();
        ahead_.resize(kBegin);
        ahead_.resize(had + stream_.read_some(std::span(ahead_).subspan(had)));
        if (ahead_.size() == had) return;
    }
    if (!may_be_wav(ahead_)) return;
    ahead_.clear();
    read_wav_header();
}

// Up to the samples; another chunk of theirs may stand in between.
void ByteStreamSource::read_wav_header() {
    constexpr std::size_t kMostBytes = 1 << 20;
    std::vector<std::byte> chunk;
    const auto take = [&](std::size_t bytes) {
        chunk.resize(bytes);
        if (bytes > kMostBytes || stream_.read(chunk) < bytes)
            throw IoError(
                "the samples begin as a WAV file, and it ends in its header or has none that can be read");
    };
    for (;;) {
        take(8);
        const std::string name = text_of(std::span(chunk).first(4));
        if (name == "data") break;
        const std::size_t bytes = number_in(chunk, 4, 4);
        take(bytes + bytes % 2);
        if (name != "fmt " || bytes < 16) continue;
        wav_rate_hz_ = number_in(chunk, 4, 4);
        const std::size_t size = number_in(chunk, 12, 2), wanted = dsp::bytes_per_sample(format_);
        if (size != wanted)
            throw IoError(fmt::format(
                "the samples begin as a WAV file with {} bytes for each, and those of --format have {}: "
                "give the one that it has",
                size, wanted));
    }
}

std::string ByteStreamSource::remarks() const {
    const std::size_t bytes = cut_bytes_;
    std::string text = bytes > 0 ? cut_sample_text(bytes, dsp::bytes_per_sample(format_)) : "";
    const double rate_hz = wav_rate_hz_;
    if (rate_hz == 0) return text;
    text += fmt::format("{}the header of a WAV file was left out", text.empty() ? "" : "; ");
    if (sample_rate_hz_ && *sample_rate_hz_ != rate_hz)
        text += fmt::format(", which says {} samples a second, not {}", rate_hz, *sample_rate_hz_);
    return text;
}

}  // namespace tidemill::io
