#include "tidemill/io/transport/dvb_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <iconv.h>

namespace tidemill::io {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view kUnknown = "\xef\xbf\xbd";  // U+FFFD

/// A character table by iconv's name, and the bytes that are passed over where it has no character.
struct Table {
    std::string name;
    std::size_t unit_bytes = 1;
};

// Reads only ASCII if this system does not know the name of the character set.
class Converter {
  public:
    explicit Converter(const std::string& from) : state_(::iconv_open("UTF-8", from.c_str())) {
        if (!is_there()) state_ = ::iconv_open("UTF-8", "ASCII");
    }
    Converter(const Converter&) = delete;
    Converter& operator=(const Converter&) = delete;
    ~Converter() {
        if (is_there()) ::iconv_close(state_);
    }

    bool is_there() const { return state_ != reinterpret_cast<iconv_t>(-1); }

    // As far as there are characters; returns the bytes that were converted.
    std::size_t convert(Bytes from, std::string& to) {
        std::vector<char> in(from.begin(), from.end());
        std::array<char, 256> out{};
        char* next = in.data();
        std::size_t left = in.size();
        for (bool goes_on = true; goes_on;) {
            char* end = out.data();
            std::size_t room = out.size();
            goes_on =
                ::iconv(state_, &next, &left, &end, &room) == static_cast<std::size_t>(-1) && errno == E2BIG;
            to.append(out.data(), end);
        }
        ::iconv(state_, nullptr, nullptr, nullptr, nullptr);
        return in.size() - left;
    }

  private:
    iconv_t state_;
};

std::string converted(const Table& table, Bytes bytes) {
    Converter converter(table.name);
    std::string text;
    while (!bytes.empty() && converter.is_there()) {
        bytes = bytes.subspan(converter.convert(bytes, text));
        if (bytes.empty()) break;
        text += kUnknown;
        bytes = bytes.subspan(std::min(table.unit_bytes, bytes.size()));
    }
    return text;
}

// Emphasis, line breaks and the like, U+0080 to U+009F and U+E080 to U+E09F (tables A.1 and A.2).
std::string without_controls(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const auto third = static_cast<unsigned char>(text.size() > 2 ? text[2] : 0);
        const auto second = static_cast<unsigned char>(text.size() > 1 ? text[1] : 0);
        if (text[0] == '\xc2' && second < 0xa0) {
            text.remove_prefix(2);
        } else if (text.starts_with("\xee\x82") && third < 0xa0) {
            text.remove_prefix(3);
        } else {
            plain += text.front();
            text.remove_prefix(1);
        }
    }
    return plain;
}

// The euro has a place there that ISO 6937 gives to no letter (figure A.1).
std::string of_default_table(Bytes bytes) {
    constexpr std::uint8_t kEuro = 0xa4;
    const auto euro = std::ranges::find(bytes, kEuro);
    const auto before = static_cast<std::size_t>(euro - bytes.begin());
    std::string text = converted({"ISO_6937"}, bytes.first(before));
    if (euro == bytes.end()) return text;
    return text + "\xe2\x82\xac" + of_default_table(bytes.subspan(before + 1));
}

// The standard means the characters of Big5 in pairs of ISO 10646; some send Big5 itself, whose pairs are
// seldom those of Chinese there.
bool is_chinese_in_pairs(Bytes bytes) {
    for (; bytes.size() >= 2; bytes = bytes.subspan(2)) {
        const unsigned c = bytes[0] << 8 | bytes[1];
        const bool is_known = c < 0x250 || (c >= 0x2000 && c < 0xa000) || (c >= 0xf900 && c < 0xfb00) ||
                              (c >= 0xfe30 && c < 0xfff0) || (c >= 0xe080 && c < 0xe0a0);
        if (!is_known) return false;
    }
    return bytes.empty();
}

Table iso_8859(unsigned part) {
    return {fmt::format("ISO-8859-{}", part)};
}

// Tables A.3 and A.4; what is reserved there is read as the default.
std::string text_by_table(std::uint8_t table, Bytes bytes) {
    const Table pairs{"UTF-16BE", 2};
    if (table <= 0x0b && table != 0x08) return converted(iso_8859(table + 4U), bytes);
    switch (table) {
        case 0x10:
            return bytes.size() < 2 ? "" : converted(iso_8859(bytes[0] << 8 | bytes[1]), bytes.subspan(2));
        case 0x11:
            return converted(pairs, bytes);
        case 0x12:
            return converted({"EUC-KR"}, bytes);
        case 0x13:
            return converted({"GB2312"}, bytes);
        case 0x14:
            return converted(is_chinese_in_pairs(bytes) ? pairs : Table{"BIG5"}, bytes);
        case 0x15:
            return converted({"UTF-8"}, bytes);
        case 0x1f:  // a table of somebody's own, which the next byte names
            return bytes.empty() ? "" : converted({"ASCII"}, bytes.subspan(1));
        default:
            return of_default_table(bytes);
    }
}

}  // namespace

std::string dvb_text(Bytes text) {
    constexpr std::uint8_t kFirstCharacter = 0x20, kFirstOfTables = 0x80;
    if (text.empty()) return {};
    const bool names_table = text[0] < kFirstCharacter;
    const bool is_plain = std::ranges::all_of(text, [](std::uint8_t byte) { return byte < kFirstOfTables; });
    if (!names_table && is_plain) return {text.begin(), text.end()};
    return without_controls(names_table ? text_by_table(text[0], text.subspan(1)) : of_default_table(text));
}

}  // namespace tidemill::io
