#include "tidemill/io/files/tar_index.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/files/internal/recorded_file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

// POSIX.1-1988 (ustar): a header and then the content, both in blocks of 512 bytes.
constexpr std::uint64_t kTarBlockBytes = 512;
constexpr std::uint64_t kNotKnownYet = std::uint64_t{1} << 62;
constexpr std::uint64_t kMaxNoteBytes = 1 << 20;  // of a long name or a pax header
using Block = std::array<char, kTarBlockBytes>;

std::string_view text_of(const Block& block, std::size_t at, std::size_t length) {
    const std::string_view field(block.data() + at, length);
    return field.substr(0, field.find('\0'));
}

// Octal digits, or big-endian binary when the first bit says so (GNU).
std::optional<std::uint64_t> number_of(const Block& block, std::size_t at, std::size_t length) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(block[at + i]); };
    std::uint64_t value = 0;
    if (byte(0) & 0x80) {
        for (std::size_t i = 0; i < length; ++i) value = value << 8 | (i == 0 ? byte(i) & 0x7fU : byte(i));
        return value;
    }
    std::string_view digits = text_of(block, at, length);
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    digits = digits.substr(0, digits.find(' '));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

bool checksum_fits(const Block& block) {
    constexpr std::size_t kAt = 148, kLength = 8;
    std::uint64_t sum = kLength * ' ';
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (i < kAt || i >= kAt + kLength) sum += static_cast<unsigned char>(block[i]);
    }
    return number_of(block, kAt, kLength) == sum;
}

class TarReader {
  public:
    explicit TarReader(const std::filesystem::path& path)
        : path_(path), file_(path), size_(file_.is_packed() ? kNotKnownYet : file_.size()) {}

    std::vector<TarMember> list() {
        std::vector<TarMember> members;
        while (at_ + kTarBlockBytes <= size_) {
            const Block header = read_block();
            if (std::ranges::all_of(header, [](char c) { return c == 0; })) break;
            read_entry(header, members);
        }
        if (file_.is_packed() && at_ > file_.size()) fail("a file reaches beyond its end");
        return members;
    }

  private:
    [[noreturn]] void fail(std::string_view what) const {
        throw IoError(
            fmt::format("'{}' is not a usable tar archive: {} at byte {}", path_.string(), what, at_));
    }

    Block read_block() const {
        Block block{};
        if (file_.read_at(std::as_writable_bytes(std::span(block)), at_) != kTarBlockBytes) fail("it ends");
        return block;
    }

    void read_entry(const Block& header, std::vector<TarMember>& members) {
        if (!checksum_fits(header)) fail("no header");
        const auto size = pax_size_ ? pax_size_ : number_of(header, 124, 12);
        const std::uint64_t content = at_ + kTarBlockBytes;
        if (!size || *size > size_ - content) fail("a file reaches beyond its end");
        const char type = header[156];
        if (type == 'L') {
            long_name_ = note(content, *size);
            long_name_ = long_name_.substr(0, long_name_.find('\0'));
        } else if (type == 'x') {
            read_pax(note(content, *size));
        } else {
            if (type == '0' || type == '\0') members.push_back({name_of(header), content, *size});
            long_name_.clear();
            pax_size_.reset();
        }
        at_ = content + (*size + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
    }

    std::string note(std::uint64_t offset, std::uint64_t size) const {
        if (size > kMaxNoteBytes) fail("a long name is too long");
        std::string text(size, '\0');
        text.resize(file_.read_at(std::as_writable_bytes(std::span(text)), offset));
        return text;
    }

    // Records "LENGTH KEY=VALUE\n"; the length counts all of it.
    void read_pax(std::string_view records) {
        while (!records.empty()) {
            std::size_t length = 0;
            const auto [end, error] =
                std::from_chars(records.data(), records.data() + records.size(), length);
            const auto digits = static_cast<std::size_t>(end - records.data());
            if (error != std::errc() || length > records.size() || length < digits + 2)
                fail("a pax header is damaged");
            const std::string_view record = records.substr(digits + 1, length - digits - 2);
            if (record.starts_with("path=")) long_name_ = record.substr(5);
            if (record.starts_with("size=")) read_pax_size(record.substr(5));
            records.remove_prefix(length);
        }
    }

    void read_pax_size(std::string_view digits) {
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
        if (error != std::errc() || end != digits.data() + digits.size()) fail("a pax size is no number");
        pax_size_ = size;
    }

    std::string name_of(const Block& header) const {
        if (!long_name_.empty()) return long_name_;
        const std::string_view prefix = header[257] == 'u' ? text_of(header, 345, 155) : "";
        const std::string_view name = text_of(header, 0, 100);
        return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
    }

    const std::filesystem::path& path_;
    internal::RecordedFile file_;
    std::uint64_t size_;
    std::uint64_t at_ = 0;
    std::string long_name_;  // of the next entry, from one before it
    std::optional<std::uint64_t> pax_size_;
};

}  // namespace

std::vector<TarMember> list_tar(const std::filesystem::path& path) {
    auto members = TarReader(path).list();
    if (members.empty())
        throw IoError(fmt::format("'{}' holds no files: it is no tar archive", path.string()));
    return members;
}

}  // namespace tidemill::io
