#include "tidemill/io/wav_header.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/internal/file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

constexpr unsigned kPcm = 1, kFloat = 3, kExtensible = 0xfffe;  // RFC 2361
constexpr std::uint64_t kUnknownSize = 0xffffffff;              // RF64, and writers that could not go back

struct Chunk {
    std::array<char, 4> id{};
    std::uint64_t offset = 0;
    std::uint64_t size = 0;

    bool is(std::string_view name) const { return std::string_view(id.data(), id.size()) == name; }
};

class WavReader {
  public:
    explicit WavReader(const std::filesystem::path& path)
        : path_(path), file_(internal::File::open_regular(path)), size_(file_.size()) {}

    WavHeader read() {
        const Chunk riff = chunk_at(0);
        if (!(riff.is("RIFF") || riff.is("RF64")) || id_at(8) != std::array{'W', 'A', 'V', 'E'})
            fail("no WAVE header");
        WavHeader header;
        bool has_format = false;
        std::optional<std::uint64_t> long_size;
        for (std::uint64_t at = 12; at + 8 <= size_;) {
            const Chunk chunk = chunk_at(at);
            if (chunk.is("ds64") && chunk.size >= 16) long_size = number(chunk.offset + 8, 8);
            if (chunk.is("fmt ")) {
                read_format(chunk, header);
                has_format = true;
            }
            if (chunk.is("auxi")) read_radio(chunk, header);
            if (chunk.is("data")) {
                if (!has_format) fail("the data come before their format");
                return with_data(header, chunk, long_size);
            }
            at = chunk.offset + chunk.size + chunk.size % 2;
        }
        fail("there are no data");
    }

  private:
    [[noreturn]] void fail(std::string_view what) const {
        throw IoError(fmt::format("cannot read '{}' as a WAV recording: {}", path_.string(), what));
    }

    std::uint64_t number(std::uint64_t at, std::size_t bytes) const {
        std::array<std::byte, 8> raw{};
        if (file_.read_at(std::span(raw).first(bytes), at) != bytes) fail("it ends in its header");
        std::uint64_t value = 0;
        for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(raw[i]);
        return value;
    }

    std::array<char, 4> id_at(std::uint64_t at) const {
        std::array<char, 4> id{};
        if (file_.read_at(std::as_writable_bytes(std::span(id)), at) != id.size())
            fail("it ends in its header");
        return id;
    }

    Chunk chunk_at(std::uint64_t at) const { return {id_at(at), at + 8, number(at + 4, 4)}; }

    void read_format(const Chunk& chunk, WavHeader& header) const {
        if (chunk.size < 16) fail("its format is cut off");
        unsigned tag = static_cast<unsigned>(number(chunk.offset, 2));
        if (tag == kExtensible && chunk.size >= 26) tag = static_cast<unsigned>(number(chunk.offset + 24, 2));
        if (number(chunk.offset + 2, 2) != 2) fail("it must have two channels, I and Q");
        header.sample_rate_hz = static_cast<double>(number(chunk.offset + 4, 4));
        if (header.sample_rate_hz < 1) fail("its sample rate is 0");
        const auto bits = static_cast<unsigned>(number(chunk.offset + 14, 2));
        header.is_24_bit = tag == kPcm && bits == 24;
        header.format = header.is_24_bit ? SampleFormat::cf32 : format_of(tag, bits);
    }

    // Of SpectraVue, HDSDR and others: two times of 16 bytes, then the frequency; some programs put XML
    // there.
    void read_radio(const Chunk& chunk, WavHeader& header) const {
        constexpr std::uint64_t kFrequency = 32, kFields = 64;
        if (chunk.size < kFields || chunk.size > 4 * kFields || number(chunk.offset, 1) == '<') return;
        const auto frequency_hz = static_cast<double>(number(chunk.offset + kFrequency, 4));
        if (frequency_hz > 0) header.center_frequency_hz = frequency_hz;
    }

    SampleFormat format_of(unsigned tag, unsigned bits) const {
        if (tag == kPcm && bits == 8) return SampleFormat::cu8;
        if (tag == kPcm && bits == 16) return SampleFormat::ci16;
        if (tag == kFloat && bits == 32) return SampleFormat::cf32;
        if (tag == kFloat && bits == 64) return SampleFormat::cf64;
        fail(fmt::format(
            "samples of kind {} with {} bits are not supported; supported are integers of 8, 16 and 24, "
            "floating point of 32 and 64",
            tag, bits));
    }

    WavHeader with_data(WavHeader header, const Chunk& data, std::optional<std::uint64_t> long_size) const {
        const std::uint64_t there = size_ - data.offset;
        const bool unknown = data.size == kUnknownSize || data.size == 0;
        const std::uint64_t promised = !unknown ? data.size : long_size.value_or(there);
        header.data_offset = data.offset;
        header.data_bytes = std::min(promised, there);
        header.is_cut_off = promised > there;
        return header;
    }

    const std::filesystem::path& path_;
    internal::File file_;
    std::uint64_t size_;
};

}  // namespace

WavHeader read_wav_header(const std::filesystem::path& path) {
    return WavReader(path).read();
}

}  // namespace tidemill::io
