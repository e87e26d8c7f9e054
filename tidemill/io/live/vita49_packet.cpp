#include "tidemill/io/live/vita49_packet.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

constexpr std::size_t kWordBytes = 4;
constexpr double kHzPerUnit = 1.0 / (1 << 20);  // VITA 49.2, 9.5.1: 20 bits behind the point
constexpr double kLeastRateHz = 1, kMostRateHz = 1e10;

std::uint32_t bits(std::uint32_t word, int from, int count) {
    return word >> from & ((1U << count) - 1);
}

/// VitaWords of a datagram, one after the other; beyond its end zeros, and that is remembered.
class VitaWords {
  public:
    explicit VitaWords(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint32_t next() {
        if (bytes_.size() < kWordBytes) {
            is_short_ = true;
            return 0;
        }
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < kWordBytes; ++i)
            word = word << 8 | std::to_integer<std::uint32_t>(bytes_[i]);
        bytes_ = bytes_.subspan(kWordBytes);
        return word;
    }
    std::uint64_t next_long() {
        const std::uint64_t high = next();
        return high << 32 | next();
    }
    void skip(std::size_t words) {
        for (std::size_t i = 0; i < words; ++i) next();
    }
    bool is_short() const { return is_short_; }
    std::span<const std::byte> rest() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
    bool is_short_ = false;
};

// VITA 49.2, 5.1.1: kinds of packets with a stream identifier.
constexpr std::uint32_t kSignalData = 1, kSignalContext = 4;

// The first word of a packet.
struct VitaHeader {
    std::uint32_t type, time_kind, fraction_kind, bytes;
    bool has_class, has_trailer, is_spectrum;
    std::uint8_t count;

    explicit VitaHeader(std::uint32_t word)
        : type(bits(word, 28, 4)),
          time_kind(bits(word, 22, 2)),
          fraction_kind(bits(word, 20, 2)),
          bytes(bits(word, 0, 16) * kWordBytes),
          has_class(bits(word, 27, 1) != 0),
          has_trailer(type == kSignalData && bits(word, 26, 1) != 0),
          is_spectrum(type == kSignalData && bits(word, 24, 1) != 0),
          count(static_cast<std::uint8_t>(bits(word, 16, 4))) {}

    VitaKind kind() const {
        if (type == kSignalData && !is_spectrum) return VitaKind::data;
        return type == kSignalContext ? VitaKind::context : VitaKind::other;
    }
};

VitaTime read_time(const VitaHeader& header, VitaWords& words) {
    VitaTime time;
    if (header.time_kind != 0) time.seconds = words.next();
    time.counts = static_cast<VitaFraction>(header.fraction_kind);
    if (header.fraction_kind != 0) time.fraction = words.next_long();
    return time;
}

// Class identifier (VITA 49.2, 5.1.3); returns how many bits of the payload's last word are padding.
std::uint32_t read_class(VitaWords& words, VitaPacket& packet) {
    const std::uint32_t first = words.next(), second = words.next();
    packet.of_class = VitaClass{bits(first, 0, 24), static_cast<std::uint16_t>(second >> 16),
                                static_cast<std::uint16_t>(second)};
    return bits(first, 27, 5);
}

std::optional<VitaForm> form_of(std::uint32_t first, std::uint32_t second) {
    // VITA 49.2, 9.13.3: Cartesian, no repeats, tags or vectors.
    constexpr std::uint32_t kCartesian = 1, kSigned = 0, kFloat = 14, kDouble = 15;
    if (bits(first, 29, 2) != kCartesian || bits(first, 16, 8) != 0 || second != 0) return std::nullopt;
    const std::uint32_t type = bits(first, 24, 5), field = bits(first, 6, 6) + 1;
    const bool is_packed = bits(first, 31, 1) != 0;
    if (type == kFloat && field == 32) return VitaForm{SampleFormat::cf32_be};
    if (type == kDouble && field == 64) return VitaForm{SampleFormat::cf64_be};
    if (type != kSigned) return std::nullopt;
    if (field == 8) return VitaForm{SampleFormat::ci8};
    if (field == 16) return VitaForm{SampleFormat::ci16_be};
    if (!is_packed || field < 4 || field > 16) return std::nullopt;
    return VitaForm{SampleFormat::ci16, static_cast<int>(field)};
}

double frequency_of(std::uint64_t value) {
    return static_cast<double>(static_cast<std::int64_t>(value)) * kHzPerUnit;
}

// Fields come in the order of their bits (VITA 49.2, 9.1); those behind the payload format are not wanted.
constexpr int kFrequencyBit = 27, kRateBit = 21, kLayoutBit = 15;
constexpr std::array<std::uint8_t, 16> kFieldWords = {2, 1, 2, 1, 1, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 1};

bool read_context(VitaWords& words, VitaContext& context) {
    constexpr int kAttributes = 7;  // fields in another form
    const std::uint32_t fields = words.next();
    if (bits(fields, kAttributes, 1) != 0) return false;
    for (const int more : {1, 2, 3}) words.skip(bits(fields, more, 1));
    for (int bit = 30; bit >= kLayoutBit; --bit) {
        if (bits(fields, bit, 1) == 0) continue;
        if (bit == kFrequencyBit) {
            context.frequency_hz = frequency_of(words.next_long());
        } else if (bit == kRateBit) {
            const double rate_hz = frequency_of(words.next_long());
            if (rate_hz >= kLeastRateHz && rate_hz <= kMostRateHz) context.sample_rate_hz = rate_hz;
        } else if (bit == kLayoutBit) {
            context.layout = words.next();
            context.form = form_of(*context.layout, words.next());
        } else {
            words.skip(kFieldWords.at(static_cast<std::size_t>(bit - kLayoutBit)));
        }
    }
    return !words.is_short();
}

bool read_payload(const VitaHeader& header, std::uint32_t padding_bits, std::span<const std::byte> rest,
                  VitaPacket& packet) {
    const std::size_t behind = (header.has_trailer ? kWordBytes : 0) + (padding_bits + 7) / 8;
    if (behind > rest.size()) return false;
    packet.payload = rest.first(rest.size() - behind);
    return true;
}

// VitaWords of a packet that is made.
class MadeWords {
  public:
    void word(std::uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    void long_word(std::uint64_t value) {
        word(static_cast<std::uint32_t>(value >> 32));
        word(static_cast<std::uint32_t>(value));
    }
    void frequency(double hz) { long_word(static_cast<std::uint64_t>(std::llround(hz / kHzPerUnit))); }

    // Words before the fields or samples: POSIX seconds and picoseconds, as DIFI wants them.
    void prologue(std::uint32_t type, const VitaPacket& packet, const VitaClass& of_class,
                  std::size_t words) {
        assert(packet.time.seconds && packet.time.counts == VitaFraction::picoseconds);
        constexpr std::uint32_t kClassAndTimes = 0x08E00000, kCoarse = 0x01000000;
        word(type << 28 | kClassAndTimes | (type == kSignalContext ? kCoarse : 0) |
             (packet.count & 15U) << 16 | static_cast<std::uint32_t>(kPrologueWords + words));
        word(packet.stream);
        word(of_class.organisation);
        word(static_cast<std::uint32_t>(of_class.information) << 16 | of_class.packet);
        word(packet.time.seconds.value_or(0));
        long_word(packet.time.fraction);
    }
    void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    static constexpr std::size_t kPrologueWords = 7;
    std::vector<std::byte> bytes_;
};

}  // namespace

std::optional<VitaPacket> parse_vita(std::span<const std::byte> datagram) {
    const VitaHeader header{VitaWords(datagram).next()};
    if (header.bytes < kWordBytes || header.bytes != datagram.size()) return std::nullopt;
    VitaPacket packet{.kind = header.kind(), .count = header.count};
    if (packet.kind == VitaKind::other) return packet;
    VitaWords words(datagram.subspan(kWordBytes));
    packet.stream = words.next();
    const std::uint32_t padding_bits = header.has_class ? read_class(words, packet) : 0;
    packet.time = read_time(header, words);
    if (words.is_short()) return std::nullopt;
    const bool is_whole = packet.kind == VitaKind::context
                              ? read_context(words, packet.context)
                              : read_payload(header, padding_bits, words.rest(), packet);
    return is_whole ? std::optional(packet) : std::nullopt;
}

void append_vita_samples(const VitaForm& form, std::span<const std::byte> payload,
                         std::vector<std::byte>& to) {
    const std::size_t sample_bytes = dsp::bytes_per_sample(form.format);
    if (form.packed_bits == 0) {
        const auto whole = payload.first(payload.size() - payload.size() % sample_bytes);
        to.insert(to.end(), whole.begin(), whole.end());
        return;
    }
    const auto width = static_cast<unsigned>(form.packed_bits);
    const std::size_t numbers = payload.size() * 8 / width / 2 * 2;
    std::uint32_t held = 0;
    unsigned held_bits = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers; ++i) {
        for (; held_bits < width; held_bits += 8)
            held = held << 8 | std::to_integer<std::uint32_t>(payload[at++]);
        held_bits -= width;
        const std::uint32_t number = held >> held_bits << (16 - width) & 0xFFFFU;
        to.push_back(static_cast<std::byte>(number));
        to.push_back(static_cast<std::byte>(number >> 8));
    }
}

std::vector<std::byte> make_vita_data(const VitaPacket& packet) {
    assert(packet.payload.size() % kWordBytes == 0 && packet.payload.size() <= kMostVitaPayloadBytes);
    MadeWords made;
    made.prologue(kSignalData, packet, kDifiData, packet.payload.size() / kWordBytes);
    made.append(packet.payload);
    return made.take();
}

std::vector<std::byte> make_vita_context(const VitaPacket& packet, bool changed) {
    // IEEE-ISTO 4900-2021, 4.3: these fields, in this order.
    constexpr std::uint32_t kFields = 0x7BB98000, kChanged = 0x80000000;
    constexpr std::size_t kWords = 20;
    constexpr std::uint32_t kConverter = 75;              // the reference point: the analogue port
    constexpr std::uint32_t kNothingLocked = 0xA0000000;  // clock and reference: a computer's
    const VitaContext& context = packet.context;
    const double rate_hz = context.sample_rate_hz.value_or(0);
    MadeWords made;
    made.prologue(kSignalContext, packet, kDifiContext, kWords);
    made.word(kFields | (changed ? kChanged : 0));
    made.word(kConverter);
    made.frequency(rate_hz);                           // bandwidth
    made.frequency(0);                                 // intermediate frequency
    made.frequency(context.frequency_hz.value_or(0));  // of the radio
    made.frequency(0);                                 // offset within the band
    made.word(0);                                      // reference level
    made.word(0);                                      // gain
    made.frequency(rate_hz);
    made.long_word(0);  // adjustment of the time
    made.word(0);       // when the clock was set
    made.word(kNothingLocked);
    made.word(context.layout.value_or(0));
    made.word(0);
    return made.take();
}

std::optional<std::uint32_t> vita_layout(SampleFormat format) {
    // IEEE-ISTO 4900-2021, 4.3: packed, Cartesian, signed.
    if (format == SampleFormat::ci8) return 0xA00001C7;
    if (format == SampleFormat::ci16_be) return 0xA00003CF;
    return std::nullopt;
}

}  // namespace tidemill::io
