#include "tidemill/io/recordings/wav_header.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

constexpr unsigned kPcm = 1, kFloat = 3, kExtensible = 0xfffe;  // RFC 2361
constexpr std::uint64_t kUnknownSize = 0xffffffff;              // RF64, and writers that could not go back

// Names are of letters, digits and spaces.
bool is_name(const std::array<char, 4>& id) {
    return std::ranges::all_of(id, [](char c) { return c >= ' ' && c <= '~'; });
}

struct Chunk {
    std::array<char, 4> id{};
    std::uint64_t offset = 0;  // of its content
    std::uint64_t size = 0;
    std::uint64_t next = 0;  // where the one behind it begins

    bool is(std::string_view name) const { return std::string_view(id.data(), id.size()) == name; }
    bool is_named() const { return is_name(id); }
};

class WavReader {
  public:
    explicit WavReader(const std::filesystem::path& path)
        : path_(path), file_(internal::File::open_regular(path)), size_(file_.size()) {}

    WavHeader read() {
        bool has_format = false;
        for (std::uint64_t at = first_chunk(); at + head_bytes() <= size_;) {
            const Chunk chunk = chunk_at(at);
            if (chunk.is("ds64") && chunk.size >= 16) long_size_ = number(chunk.offset + 8, 8);
            if (chunk.is("fmt ")) {
                read_format(chunk);
                has_format = true;
            }
            if (chunk.is("auxi")) read_radio(chunk);
            if (chunk.is("data")) {
                if (!has_format) fail("the data come before their format");
                take_data(chunk);
                return header_;
            }
            at = chunk.next;
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

    // Chunks of Wave64 have GUIDs, which begin with the names that WAV has, and sizes of 64 bits that include
    // the GUID and the size.
    std::uint64_t first_chunk() {
        constexpr std::uint64_t kGuidBytes = 16;
        const std::array<char, 4> id = id_at(0);
        is_wave64_ = id == std::array{'r', 'i', 'f', 'f'};
        const std::uint64_t kind_at = is_wave64_ ? kGuidBytes + 8 : 8;
        const auto kind = id_at(kind_at);
        const bool is_wave =
            is_wave64_ ? kind == std::array{'w', 'a', 'v', 'e'} : kind == std::array{'W', 'A', 'V', 'E'};
        const std::string_view name(id.data(), id.size());
        if (name == "RIFX") fail("its numbers are big endian (RIFX), which is not supported");
        if (!is_wave || !(is_wave64_ || name == "RIFF" || name == "RF64" || name == "BW64"))
            fail("no WAVE header");
        return kind_at + (is_wave64_ ? kGuidBytes : 4);
    }

    std::uint64_t head_bytes() const { return is_wave64_ ? 24 : 8; }

    Chunk chunk_at(std::uint64_t at) const {
        if (!is_wave64_) {
            const std::uint64_t size = number(at + 4, 4);
            return {id_at(at), at + 8, size, at + 8 + size + (is_padded(at + 8 + size, size) ? 1 : 0)};
        }
        const std::uint64_t content = at + head_bytes(), all = number(at + 16, 8);
        const std::uint64_t size = std::min(all - std::min(all, head_bytes()), std::uint64_t{1} << 62);
        return {id_at(at), content, size, content + (size + 7) / 8 * 8};
    }

    // A chunk of odd size is followed by a byte that not every program writes.
    bool is_padded(std::uint64_t end, std::uint64_t size) const {
        if (size % 2 == 0) return false;
        return end + 5 > size_ || !is_name(id_at(end)) || is_name(id_at(end + 1));
    }

    void read_format(const Chunk& chunk) {
        if (chunk.size < 16) fail("its format is cut off");
        unsigned tag = static_cast<unsigned>(number(chunk.offset, 2));
        if (tag == kExtensible && chunk.size >= 26) tag = static_cast<unsigned>(number(chunk.offset + 24, 2));
        if (number(chunk.offset + 2, 2) != 2) fail("it must have two channels, I and Q");
        const std::uint64_t rate = number(chunk.offset + 4, 4), bytes_per_s = number(chunk.offset + 8, 4);
        const auto sample_bytes = static_cast<unsigned>(number(chunk.offset + 12, 2));
        const auto bits = static_cast<unsigned>(number(chunk.offset + 14, 2));
        if (rate > 0) header_.sample_rate_hz = static_cast<double>(rate);
        take_numbers(tag, bits, sample_bytes);
        const std::uint64_t stored =
            2 *
            (header_.integers.bytes > 0 ? header_.integers.bytes : dsp::bytes_per_sample(header_.format) / 2);
        if (stored != sample_bytes || (rate * sample_bytes) % (kUnknownSize + 1) != bytes_per_s)
            header_.warnings.push_back(
                fmt::format("its header contradicts itself: {} samples a second with {} bits, {} bytes each, "
                            "and {} bytes a second",
                            rate, bits, sample_bytes, bytes_per_s));
    }

    // Numbers may have more bytes than their bits need.
    void take_numbers(unsigned tag, unsigned bits, unsigned sample_bytes) {
        const unsigned needed = (bits + 7) / 8;
        const bool is_wider = sample_bytes % 2 == 0 && sample_bytes / 2 > needed && sample_bytes <= 8;
        const unsigned bytes = is_wider ? sample_bytes / 2 : needed;
        if (bits % 8 != 0 && sample_bytes != 2 * bytes) refuse(tag, bits);
        if (tag == kPcm && bits > 16 && (bytes == 3 || bytes == 4)) {
            header_.format = SampleFormat::cf32;
            header_.integers = {.bytes = bytes, .bits = 8 * bytes};
        } else {
            header_.format = format_of(tag, bits, bytes);
        }
    }

    SampleFormat format_of(unsigned tag, unsigned bits, unsigned bytes) const {
        if (tag == kPcm && bits > 0 && bytes == 1) return SampleFormat::cu8;
        if (tag == kPcm && bits > 0 && bytes == 2) return SampleFormat::ci16;
        if (tag == kFloat && bits == 32) return SampleFormat::cf32;
        if (tag == kFloat && bits == 64) return SampleFormat::cf64;
        refuse(tag, bits);
    }

    [[noreturn]] void refuse(unsigned tag, unsigned bits) const {
        fail(fmt::format(
            "samples of kind {} with {} bits are not supported; supported are integers of up to 32, "
            "floating point of 32 and 64",
            tag, bits));
    }

    // The auxi chunk of SpectraVue, HDSDR and others: two times of 16 bytes, then the frequency; some
    // programs put XML there.
    void read_radio(const Chunk& chunk) {
        constexpr std::uint64_t kCenter = 32, kFields = 64;
        if (chunk.size < kFields || chunk.size > 4 * kFields || number(chunk.offset, 1) == '<') return;
        const auto frequency_hz = static_cast<double>(number(chunk.offset + kCenter, 4));
        if (frequency_hz > 0) header_.center_frequency_hz = frequency_hz;
    }

    // Whether chunks lie one behind the other from there to the end of the file, but for one byte too much.
    bool ends_well_behind(const Chunk& data, std::uint64_t size) const {
        constexpr int kMostChunks = 64;
        const std::uint64_t even = is_wave64_ ? 8 : 2;
        std::uint64_t at = data.offset + size;
        if (size_ - at <= 1) return true;
        at = std::min(at + (even - size % even) % even, size_);
        for (int i = 0; i < kMostChunks && at + head_bytes() <= size_; ++i) {
            const Chunk chunk = chunk_at(at);
            if (!chunk.is_named() || chunk.next < at) return false;
            at = chunk.next;
        }
        return at + 1 >= size_ && at <= size_ + even;
    }

    // Sizes that the header may mean, the likeliest first.
    std::vector<std::uint64_t> sizes_of(const Chunk& data, std::uint64_t there) const {
        std::vector<std::uint64_t> sizes;
        if (long_size_ && data.size == kUnknownSize) sizes.push_back(*long_size_);
        if (is_wave64_ || data.size != kUnknownSize) sizes.push_back(data.size);
        if (is_wave64_ || sizes.empty()) return sizes;
        constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
        for (std::uint64_t more = data.size + kWrap; more <= there; more += kWrap) sizes.push_back(more);
        return sizes;
    }

    void take_data(const Chunk& data) {
        const std::uint64_t there = size_ - data.offset;
        const auto sizes = sizes_of(data, there);
        header_.data_offset = data.offset;
        header_.data_bytes = there;
        const std::uint64_t said = sizes.empty() ? 0 : sizes.front();
        if (said == 0) return;  // its writer could not go back
        const auto found = std::ranges::find_if(sizes, [&](std::uint64_t size) {
            return size > 0 && size <= there && ends_well_behind(data, size);
        });
        if (found != sizes.end()) header_.data_bytes = *found;
        if (found == sizes.begin()) return;
        header_.warnings.push_back(
            said > there
                ? fmt::format(
                      "the file is shorter than its header says: {} bytes of data instead of {}; they may "
                      "be truncated",
                      there, said)
                : fmt::format(
                      "the header says {} bytes of data, and the file has {}: those of the file are read",
                      said, header_.data_bytes));
    }

    const std::filesystem::path& path_;
    internal::File file_;
    std::uint64_t size_;
    bool is_wave64_ = false;
    std::optional<std::uint64_t> long_size_{};  // of the data, where 32 bits do not hold it
    WavHeader header_{};
};

}  // namespace

WavHeader read_wav_header(const std::filesystem::path& path) {
    return WavReader(path).read();
}

}  // namespace tidemill::io
