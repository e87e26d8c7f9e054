#include "tidemill/io/live/zmq_stream.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tidemill::io {
namespace {

constexpr double kMostDroppedSeconds = 1;  // beyond, it is another beginning
constexpr int kHeadlessThatConvince = 16;  // before the sender's messages bear no headers any more

/// Bytes of a message, one part after the other; beyond its end nothing, and that is remembered.
class MessageParts {
  public:
    explicit MessageParts(std::span<const std::byte> bytes) : bytes_(bytes) {}

    // Headers are in the sender's order of bytes: little endian on all that are in use.
    std::uint64_t little(std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value |= next() << (8 * i);
        return value;
    }
    // Serialised numbers are big endian.
    std::uint64_t big(std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | next();
        return value;
    }
    void skip(std::uint64_t bytes) {
        is_short_ |= bytes > bytes_.size() - at_;
        at_ = is_short_ ? bytes_.size() : at_ + static_cast<std::size_t>(bytes);
    }
    bool is_short() const { return is_short_; }
    std::size_t at() const { return at_; }
    std::size_t left() const { return bytes_.size() - at_; }

  private:
    std::uint64_t next() {
        is_short_ |= at_ == bytes_.size();
        return is_short_ ? 0 : std::to_integer<std::uint64_t>(bytes_[at_++]);
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool is_short_ = false;
};

// Kinds of what GNU Radio serialises (its pmt_serial_tags), and bytes of the numbers in uniform vectors.
enum class Value : std::uint8_t {
    truth = 0x0,
    falsehood = 0x1,
    symbol = 0x2,
    int32 = 0x3,
    real = 0x4,
    complex = 0x5,
    null = 0x6,
    pair = 0x7,
    vector = 0x8,
    dictionary = 0x9,
    uniform_vector = 0xa,
    uint64 = 0xb,
    tuple = 0xc,
    int64 = 0xd,
};
constexpr std::array<std::uint64_t, 12> kNumberBytes = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};

// Returns how many further values are within it; empty: it is none.
std::optional<std::uint64_t> skip_value(MessageParts& parts) {
    switch (static_cast<Value>(parts.big(1))) {
        case Value::truth:
        case Value::falsehood:
        case Value::null:
            return 0;
        case Value::symbol:
            parts.skip(parts.big(2));
            return 0;
        case Value::int32:
            parts.skip(4);
            return 0;
        case Value::real:
        case Value::uint64:
        case Value::int64:
            parts.skip(8);
            return 0;
        case Value::complex:
            parts.skip(16);
            return 0;
        case Value::pair:
        case Value::dictionary:
            return 2;
        case Value::vector:
        case Value::tuple:
            return parts.big(4);
        case Value::uniform_vector: {
            constexpr std::uint64_t kOrder = 0x80;
            const std::uint64_t kind = parts.big(1) & ~kOrder, numbers = parts.big(4);
            if (kind >= kNumberBytes.size()) return std::nullopt;
            parts.skip(parts.big(1));
            parts.skip(numbers * kNumberBytes.at(kind));
            return 0;
        }
    }
    return std::nullopt;
}

// However deep they are nested, each takes a byte, so that this ends with the message.
bool skip_values(MessageParts& parts, std::uint64_t values) {
    while (values > 0) {
        const auto more = skip_value(parts);
        if (!more || parts.is_short() || *more > parts.left()) return false;
        values += *more - 1;
    }
    return true;
}

}  // namespace

std::optional<TagHeader> parse_tag_header(std::span<const std::byte> message) {
    constexpr std::uint64_t kMagic = 0x5FF0, kVersion = 1;
    MessageParts parts(message);
    if (parts.little(2) != kMagic || parts.little(1) != kVersion) return std::nullopt;
    TagHeader header;
    header.offset = parts.little(8);
    const std::uint64_t tags = parts.little(8);
    if (parts.is_short() || tags > parts.left()) return std::nullopt;
    for (std::uint64_t tag = 0; tag < tags; ++tag) {
        parts.skip(8);  // its offset
        constexpr std::uint64_t kKeyValueAndSource = 3;
        if (!skip_values(parts, kKeyValueAndSource)) return std::nullopt;
    }
    header.bytes = parts.at();
    return header;
}

ZmqStream::ZmqStream(dsp::SampleFormat format, double sample_rate_hz, bool drops)
    : sample_bytes_(dsp::bytes_per_sample(format)), sample_rate_hz_(sample_rate_hz), drops_(drops) {}

void ZmqStream::take(std::span<const std::byte> message) {
    // No samples look like a header by chance: 19 bytes would have to be right.
    const auto header = parse_tag_header(message);
    if (!header && lacks_header()) {
        ++headless_;
        return;
    }
    const auto samples = message.subspan(header ? header->bytes : 0);
    if (samples.empty() || samples.size() % sample_bytes_ != 0) {
        ++cut_;
        return;
    }
    has_headers_ = header.has_value();
    headless_in_a_row_ = 0;
    if (header) take_step(header->offset);
    ++messages_;
    last_samples_ = samples.size() / sample_bytes_;
    pieces_.add({samples.begin(), samples.end()});
}

// Where others have headers; but a sender that has begun anew may have other settings.
bool ZmqStream::lacks_header() {
    if (has_headers_ != true) return false;
    if (++headless_in_a_row_ < kHeadlessThatConvince) return true;
    last_offset_.reset();
    return false;
}

// Offsets count items: samples, or vectors of them, which shows where the next message's is nearer than the
// samples of the last are many.
void ZmqStream::take_step(std::uint64_t offset) {
    const std::optional<std::uint64_t> last = std::exchange(last_offset_, offset);
    if (!last) return;
    const std::uint64_t step = offset - *last;
    if (step > 0 && step < last_samples_ && last_samples_ % step == 0)
        samples_per_item_ = last_samples_ / step;
    const std::uint64_t items = last_samples_ / samples_per_item_;
    if (step == items) return;
    ++losses_.gaps;
    const double missing = static_cast<double>(step - items) * static_cast<double>(samples_per_item_);
    if (step < items || missing > kMostDroppedSeconds * sample_rate_hz_) {
        ++restarts_;
        return;
    }
    losses_.samples += (step - items) * samples_per_item_;
    pieces_.add_silence((step - items) * samples_per_item_ * sample_bytes_);
}

std::string ZmqStream::remarks() const {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    if (cut_ > 0) add(fmt::format("{} messages without a whole number of samples were not taken", cut_));
    if (headless_ > 0) add(fmt::format("{} messages without a tag header were not taken", headless_));
    if (restarts_ > 0)
        add(fmt::format("the sender's offsets jumped {} times back or by over a second, which is not filled",
                        restarts_));
    if (drops_ && has_headers_ == false)
        add("what the sender dropped is not known: its messages bear no tag headers (in GNU Radio: Pass "
            "Tags)");
    return text;
}

}  // namespace tidemill::io
