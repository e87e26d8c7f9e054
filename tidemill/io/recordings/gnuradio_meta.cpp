#include "tidemill/io/recordings/gnuradio_meta.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

// A header is a dictionary of GNU Radio's polymorphic types, serialized: each value has a tag, numbers are
// big endian. Its length is fixed; behind it may stand another dictionary.
constexpr std::size_t kHeaderBytes = 149, kMostExtraBytes = 4096;
constexpr char kTrue = 0, kSymbol = 2, kInt32 = 3, kDouble = 4, kUint64 = 11;

std::optional<std::uint64_t> number_of(std::string_view header, std::string_view key, char tag,
                                       std::size_t bytes) {
    const std::string wanted =
        std::string{kSymbol, 0, static_cast<char>(key.size())} + std::string(key) + tag;
    const std::size_t found = header.find(wanted);
    if (found == std::string_view::npos || found + wanted.size() + bytes > header.size()) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : header.substr(found + wanted.size(), bytes))
        value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

std::optional<double> real_of(std::string_view header, std::string_view key) {
    const auto bits = number_of(header, key, kDouble, 8);
    return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

/// Fields of a header.
struct SegmentHeader {
    std::uint64_t data_at = 0;  // behind its own beginning
    std::uint64_t data_bytes = 0;
    double sample_rate_hz = 0;
    std::optional<double> frequency_hz{};
    std::uint64_t type = 0;
    bool is_complex = false;
};

std::string text_at(const internal::File& file, std::uint64_t at, std::size_t bytes) {
    std::string text(bytes, '\0');
    text.resize(file.read_at(std::as_writable_bytes(std::span(text)), at));
    return text;
}

std::optional<SegmentHeader> header_at(const internal::File& file, std::uint64_t at) {
    const std::string text = text_at(file, at, kHeaderBytes);
    const auto rate = real_of(text, "rx_rate");
    const auto begin = number_of(text, "strt", kUint64, 8), bytes = number_of(text, "bytes", kUint64, 8);
    const auto type = number_of(text, "type", kInt32, 4);
    if (!rate || !begin || !bytes || !type || *begin < kHeaderBytes) return std::nullopt;
    const std::size_t extra = std::min<std::uint64_t>(*begin - kHeaderBytes, kMostExtraBytes);
    return SegmentHeader{.data_at = *begin,
                         .data_bytes = *bytes,
                         .sample_rate_hz = *rate,
                         .frequency_hz = real_of(text_at(file, at + kHeaderBytes, extra), "rx_freq"),
                         .type = *type,
                         .is_complex = number_of(text, "cplx", kTrue, 0).has_value()};
}

void take_type(const SegmentHeader& header, const std::filesystem::path& path, GnuRadioMeta& meta) {
    const auto fail = [&](std::string_view what) {
        throw IoError(
            fmt::format("cannot read '{}', of GNU Radio's file meta sink: {}", path.string(), what));
    };
    if (!header.is_complex) fail("its samples are real numbers, not I and Q");
    switch (header.type) {
        case 0:
            meta.format = SampleFormat::ci8;
            break;
        case 1:
            meta.format = SampleFormat::ci16;
            break;
        case 2:
            meta.integers = {.bytes = 4, .bits = 32};
            break;
        case 5:
            break;
        case 6:
            meta.format = SampleFormat::cf64;
            break;
        default:
            fail(fmt::format("its samples have type {}, which is not supported", header.type));
    }
}

}  // namespace

std::optional<GnuRadioMeta> read_gnuradio_meta(const std::filesystem::path& path) {
    const auto file = internal::File::open_regular(path);
    const std::uint64_t size = file.size();
    const auto first = header_at(file, 0);
    if (!first) return std::nullopt;
    GnuRadioMeta meta{.sample_rate_hz = first->sample_rate_hz, .center_frequency_hz = first->frequency_hz};
    take_type(*first, path, meta);
    std::uint64_t at = 0;
    for (auto header = first; header; header = header_at(file, at)) {
        if (header->sample_rate_hz != first->sample_rate_hz || header->type != first->type ||
            header->frequency_hz.value_or(0) != first->frequency_hz.value_or(0))
            throw IoError(fmt::format(
                "cannot read '{}' as one recording: from byte {} on its samples have another rate, "
                "frequency or type",
                path.string(), at));
        const std::uint64_t begin = at + std::min(header->data_at, size - at), there = size - begin;
        const bool is_unknown = header->data_bytes == 0;  // its writer was killed
        meta.segments.push_back({begin, is_unknown ? there : std::min(header->data_bytes, there)});
        meta.is_cut_off = !is_unknown && header->data_bytes > there;
        at = begin + meta.segments.back().bytes;
    }
    if (at < size) {
        meta.no_header_at = at;
        meta.segments.back().bytes = size - meta.segments.back().offset;
    }
    return meta;
}

}  // namespace tidemill::io
